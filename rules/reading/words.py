"""Families of words that several rules look for, in English and Chinese: concepts, not phrases of one example.

Chinese has no blanks: its words are matched as substrings. English ones stand between word borders; a blank matches a blank or a hyphen.
"""

from __future__ import annotations

import re

Family = re.Pattern[str]


def family(*english: str, zh: tuple[str, ...] = ()) -> Family:
    """A family of words. Each is a small regular expression of bounded length; a blank in it matches a blank or a hyphen, ` ?` one or none."""
    latin = "|".join(word.replace(" ?", r"[\s-]{0,2}").replace(" ", r"[\s-]{1,2}") for word in english)
    parts = [rf"(?<![A-Za-z0-9_])(?:{latin})(?![A-Za-z0-9_])"] if english else []
    return re.compile("|".join([*parts, *zh]), re.IGNORECASE)


def has_word(text: str, words: Family) -> bool:
    """True when a word of the family stands in `text`."""
    return words.search(text) is not None


# ---------------------------------------------------------------- how sure a statement is

# Nobody but the author has checked it.
AUTHOR_REPORTED = family(
    r"(?:author|self|vendor|user) (?:reported|stated|provided|declared|supplied|recorded)",
    r"(?:the )?authors? (?:\w{2,12} )?(?:reports?|states?|says?|claims?|commentary|narrative|records?)",
    r"reported by the author",
    zh=("作者(?:自述|自报|报告|声称|自称|称|提供|口述|自行)", "据作者", "自述", "自报"),
)
UNVERIFIED = family(
    r"un(?:verified|confirmed|checked|validated|audited|reproduced|receipted|qualified)",
    r"(?:not|never|n't|cannot be|could not be) (?:yet )?(?:been )?(?:independently )?(?:verified|confirmed|reproduced|reproducible|validated|audited|qualified)",
    r"not (?:an )?independent(?:ly)?(?: \w{2,20})?",
    r"no (?:committed )?receipts?",
    r"without (?:a )?(?:committed )?receipts?",
    zh=(
        "未(?:经)?(?:独立)?(?:核实|验证|证实|复现|审计|确认|复核)",
        "尚未(?:独立)?(?:核实|验证|证实|复现|确认|复核)",
        "没有(?:提交的)?回执",
        "无回执",
        "不可(?:独立)?复现",
    ),
)
# It lies outside the repository, or is not there.
EXTERNAL = family(
    r"external(?:ly)?",
    r"unavailable",
    r"not (?:available|included|committed|checked in|part of|in|retained)(?: in)?(?: (?:this|the) (?:checkout|repository|repo|bundle))?",
    r"outside (?:of )?(?:this|the) (?:repository|repo|bundle|checkout)",
    r"kept (?:by|with) the author",
    r"withheld",
    zh=("外部", "仓库(?:之)?外", "未(?:随仓库)?(?:提交|入库|附上|提供|收录)", "不在(?:本)?仓库", "由作者保管", "不可用"),
)
ABSENT = family(
    r"missing",
    r"absent",
    r"unavailable",
    r"lost",
    r"deleted",
    r"does not exist",
    r"do not exist",
    r"not (?:there|present|available|kept)",
    zh=("缺失", "缺少", "不存在", "丢失", "已删除", "不可用", "未提供"),
)
HEDGES = family(
    r"author (?:reported|stated|declared)",
    r"self reported",
    r"(?:the )?authors? (?:now )?(?:reports?|says|states|claims|records)",
    r"un(?:verified|confirmed|checked|validated|audited|reproduced)",
    r"not (?:yet )?(?:been )?(?:independently )?(?:verified|confirmed|reproduced|reproducible|validated|audited)",
    r"reportedly|allegedly|supposedly|presumably|apparently|seemingly|possibly|probably|perhaps|maybe|likely",
    r"might|could",
    r"appears?|appeared|seems?|seemed|suggests?|believed|assumed|presumed|estimated",
    r"tentative(?:ly)?|preliminary|provisional(?:ly)?",
    zh=(
        "(?<!不)可能",
        "或许",
        "也许",
        "大概",
        "疑似",
        "似乎",
        "看来",
        "估计",
        "据(?:作者|报告|称|说|悉)",
        "作者(?:自述|自报|报告|声称|自称|称)",
        "未(?:经)?(?:独立)?(?:核实|验证|证实|复现|确认|复核)",
        "尚未(?:独立)?(?:核实|验证|证实|复现|确认|复核)",
        "初步",
        "暂定",
    ),
)
# "may" doubts, "may not" and "may only" forbid, "May 2026" is a month.
MAY = re.compile(r"(?<![A-Za-z0-9_])[mM]ay(?![A-Za-z0-9_])(?!\s+(?:\d|not\b|only\b|never\b))")
EXAMPLES = family(r"for example|for instance|e\.g\.|such as|called, say|say,|sample path|placeholder", zh=("例如", "比如", "譬如", "举例", "示例"))

# ---------------------------------------------------------------- what was done with something

VERIFIED = family(
    r"verified|validated|reproduced|confirmed|proven|proved|re checked|replicated|certified|audited",
    zh=("验证", "核实", "证实", "复现", "复核", "确认", "审计"),
)
KEPT = family(
    r"retained|committed|included|checked in|attached|archived|bundled|preserved|stored|kept|recorded|published|available|provided|supplied|saved|uploaded|enclosed",
    zh=("保留", "提交", "附上", "附有", "附带", "收录", "包含", "归档", "保存", "入库", "存放", "提供", "随附", "留存"),
)
PREPARED = family(
    r"prepared|ready|in place|set up|staged|assembled|made ready", zh=("就绪", "准备好", "准备完(?:成|毕)", "准备就绪", "备好", "已准备")
)
ARTIFACTS = family(
    r"(?:raw |original |full |server |worker |device |console |kernel |compiler |profiler |benchmark ){0,3}"
    r"(?:logs?|outputs?|traces?|samples?|recordings?|receipts?|harness(?:es)?|transcripts?|dumps?|profiles?|artifacts?|measurements?|results|data)",
    zh=("(?:原始)?(?:日志|输出|轨迹|样本|录像|回执|收据|脚本|记录|数据|产物|工件)",),
)
FROZEN = family(r"frozen|freeze[sd]?|froze|pinned|locked|fixed|hash pinned", zh=("冻结", "固定", "锁定", "钉住"))

# ---------------------------------------------------------------- how far a campaign is

WAITING = family(
    r"queued|pending|waiting|awaiting|scheduled|on hold|blocked|in (?:the )?queue|reserved",
    zh=("排队", "等待", "待(?:执行|运行|测|开始|启动)", "挂起", "队列中"),
)
STARTED = family(r"started|starts|begun|began|begins?|launched|commenced|under ?way|initiated", zh=("开始", "启动", "开展", "着手"))
RUNNING = family(r"running|in progress|ongoing|executing|in flight|active", zh=("进行中", "运行中", "正在(?:运行|执行|进行|测)", "执行中"))
DONE = family(
    r"completed?|finished|done|executed|ran|run|measured|produced|performed|collected|obtained|concluded|succeeded|passed|failed",
    zh=("完成", "执行", "结束", "测得", "已测", "跑完", "得到", "产出", "通过", "失败"),
)
# A clean end of a process: what a raw record of exits can contradict.
CLEAN_END = family(
    r"clean(?:ly)? (?:worker |server |process |container )?(?:lifecycles?|exits?|exited|shut ?downs?|teardowns?|terminat\w{1,5}|ends?|ended|finish(?:ed)?|stops?|stopped|run)",
    r"(?:exit\w{0,3}|ended|ending|finish(?:ed|ing)?|terminat(?:ed|ing)|shut ?down|stopped|quit|returned|came down|closed|left) (?:\w{2,12} ){0,2}(?:cleanly|gracefully|normally|regularly|orderly)",
    r"(?:lifecycles?|exits?|shut ?downs?|teardowns?|terminations?) (?:\w{2,10} ){0,3}(?:clean|orderly|normal|graceful|regular)",
    r"(?:orderly|normal|graceful|regular) (?:exits?|shut ?downs?|teardowns?|terminations?|ends?)",
    r"exit(?:ed|s|ing)? ?(?:with |at )?(?:an? )?(?:all )?(?:exit )?(?:codes? |status(?:es)? |value )?(?:of |was |were |is |are |= ?|: ?)?(?:all )?(?:0|zero)",
    r"(?:returned|return(?:ed)? codes?|exit codes?|exit status(?:es)?|status codes?|rc) (?:\w{2,10} ){0,2}(?:of |= ?|: ?)?(?:0|zero)",
    r"(?:0|zero) (?:exits?|exit codes?|exit status(?:es)?)",
    r"(?:without|no|zero|0) (?:\w{2,12} ){0,2}(?:forced signals?|signals?|kills?|forced teardown|forced terminations?|crash(?:es)?)",
    zh=(
        "(?:正常|干净|优雅|平稳|有序)(?:地)?(?:退出|结束|终止|关闭|停止|收尾|下线)",
        "(?:退出码|退出状态|返回码|返回值)(?:均|都|全部|全)?(?:为|是|=)?(?:0|零)",
        "以(?:0|零)(?:码)?退出",
        "(?:未|没有|无)(?:收到|发送|出现|使用|任何)?(?:强制)?(?:信号|强杀)",
        "生命周期(?:干净|正常|完整)",
    ),
)

# A process that had to be made to end, or broke.
FORCED_END = family(
    r"(?:by|with|under|using) force|forc(?:ed|ible|ibly)(?: \w{2,12}){0,1} (?:signals?|teardowns?|kill(?:s|ed)?|terminat\w{2,5}|stop(?:s|ped)?|shut ?downs?|exits?|ends?|quit)",
    r"(?:was|were|got|had to be|been|being|is|are|needed to be|be) (?:\w{2,12} ){0,2}(?:killed|terminated|aborted|shot)",
    r"force ?(?:killed|stopped|quit|terminated|closed)|hard ?killed|oom ?killed|out of memory|sigkill(?:ed)?|sigterm(?:ed)?|sigabrt|sigsegv|segfault(?:s|ed)?|kill -9|signal (?:9|15|6|11)",
    r"crash(?:es|ed)?|core dump(?:s|ed)?|hung|unclean(?:ly)?|ungraceful(?:ly)?|abnormal(?:ly)?|(?:exit\w{0,3}|return\w{0,3}) (?:\w{2,10} ){0,2}(?:non-?zero|-?[1-9]\d{0,2})|left behind|orphan(?:s|ed)?|zombies?",
    zh=(
        "强制(?:终止|停止|结束|退出|关闭|杀)",
        "强杀",
        "被(?:强行|强制)?(?:杀|终止|中止)",
        "异常(?:退出|终止|结束)",
        "非正常(?:退出|终止|结束)",
        "非零退出",
        "崩溃",
        "残留进程",
        "僵尸进程",
    ),
)

# ---------------------------------------------------------------- not filled in

PLACEHOLDER = family(
    r"TBD|TBA|TBC|TODO|FIXME|XXX+|to be (?:filled(?: in)?|determined|decided|announced|added|provided|confirmed|defined|chosen|selected|set|supplied|completed|assigned|recorded|pinned)",
    r"fill (?:me |this )?in(?: later)?|fill me|placeholder|change ?me|replace ?me|your .{1,30} here|insert .{1,30} here|not (?:yet )?(?:filled in|decided|determined)",
    zh=("待定", "待补", "待填", "待确(?:认|定)", "待更新", "待提供", "待添加", "待选", "待公布", "后续补", "稍后补", "未填", "占位"),
)
