"""The words of a review in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from rules.core.model import Verdict

Language = Literal["en", "zh", "both"]

HEADINGS: Mapping[str, tuple[str, str]] = {
    "resolved": ("Resolved this round", "本轮已解决"),
    "findings": ("Findings", "问题"),
    "before": ("Before this can merge", "批准前必做"),
    "minor": ("Not blocking", "非阻塞问题或建议"),
    "held": ("What held", "已核实"),
    "limits": ("Checks and limits", "检查与限制"),
}
PHRASES: Mapping[str, tuple[str, str]] = {
    "none": ("None", "无"),
    "first": ("None: this is the first review.", "无：这是第一次审查。"),
    "verdict": ("Review verdict", "审查结论"),
    "status": ("Campaign status as recorded", "活动自身记录的状态"),
    "no defect": ("This is no defect.", "这不是缺陷。"),
    "none found": ("none found", "未找到"),
    "where": ("Where", "位置"),
    "problem": ("Problem", "问题"),
    "impact": ("Impact", "影响"),
    "searched": ("Searched", "已搜索"),
    "next": ("Next", "下一步"),
    "also": ("Also", "另有"),
    "thread": ("Open thread at this place", "此处已有未解决的讨论"),
    "must-fix": ("must-fix", "必须修复"),
    "human": ("a human must decide", "须由人决定"),
    "minor": ("not blocking", "非阻塞"),
    "new": ("new", "新"),
    "still": ("still open", "仍未解决"),
    "again": ("open again", "再次出现"),
    "partly": ("partly resolved", "部分解决"),
    "disputed": ("disputed by", "有异议："),
    "waived": ("waived by", "已豁免："),
    "withdrawn": ("withdrawn by", "已撤回："),
    "until": ("until", "至"),
    "resolved": ("resolved", "已解决"),
    "disclosed": ("disclosed: the text now says so", "已披露：正文现已说明"),
    "silent at": ("first silent at", "首次不再出现于"),
    "silent by": ("silent by", "已不再出现："),
    "text edited": ("since the text was edited", "正文修改之后"),
    "held": (
        "Not checked this time, so it stands as it stood at",
        "本次未能复查，仍按原状保留，位于",
    ),
    "cleared": ("resolved in", "已在此处解决："),
    "tree": ("the files", "文件"),
    "pull": ("the pull's text", "合并请求正文"),
    "issue": ("the issue's text", "议题正文"),
    "authority": ("must be recorded by somebody with authority", "须由有权限的人记录"),
    "and": ("and", "与"),
    "waiting": ("Waiting on", "等待"),
    "author": ("the author", "作者"),
    "requester": ("somebody with authority to decide", "有权决定的人"),
    "suggested": ("Suggested", "建议"),
    "agrees": ("agrees with", "与之一致："),
    "more": ("and {} more", "另有 {} 项"),
    "read": ("Read", "已读取"),
    "merge": ("Merge", "合并"),
    "external": ("External, by name", "外部工件（按名称）"),
    "not read": ("Not read", "未读取"),
    "not checked": ("Not checked", "未检查"),
    "not judged": ("Not judged", "不作判断"),
    "checks": ("The head's own checks", "该提交自身的检查"),
    "no checks": ("none reported", "没有报告"),
    "required": ("required", "必需"),
    "no log": ("log not readable", "日志不可读"),
    "closes": ("its log closes with", "日志结尾"),
    "about": ("see {}, which is not claimed to be the only cause", "参见 {}，但不认定为唯一原因"),
    "approvals": ("Approvals on record", "已记录的批准"),
    "current": ("current", "针对当前提交"),
    "stale": ("stale", "已过时"),
    "config": ("Config", "配置"),
    "linked": ("See also the review of", "另见"),
    "shortened": ("Shortened to fit; the check run marks every place.", "因长度限制已缩短；检查运行中标出全部位置。"),
    "footer": (
        "Static review: no code, model or device was run. Not an approval, merge authorisation or campaign acceptance.",
        "静态审查：未运行任何代码、模型或设备。不构成批准、合并授权或活动验收。",
    ),
    "reread": (
        "Head, body and comments were re-read just before posting.",
        "发布前已重新读取提交、正文与评论。",
    ),
    "account": ("Acting account", "账号"),
    "rules": ("rules", "条规则"),
    "defaults": ("default config", "默认配置"),
    "trigger": ("trigger", "触发"),
    "incomplete": (
        "This head could not be reviewed: {} Nothing is said about its evidence; earlier findings stand as they stood.",
        "未能审查该提交：{} 对其证据不作任何结论；先前的问题保持原状。",
    ),
}
VERDICTS: Mapping[Verdict, tuple[str, str]] = {
    Verdict.PASS: ("pass", "通过"),
    Verdict.CHANGES_NEEDED: ("changes needed", "需要修改"),
    Verdict.NEEDS_HUMAN: ("a human decision is needed", "需要人作出决定"),
    Verdict.INCOMPLETE: ("incomplete: not everything could be reviewed", "未完成：并非全部内容都能审查"),
}


def heading(key: str, language: Language) -> str:
    """A heading; with `both` in both languages."""
    english, chinese = HEADINGS[key]
    return f"### {english} / {chinese}" if language == "both" else f"### {chinese if language == 'zh' else english}"


def say(key: str, language: Language, *values: object) -> str:
    """A phrase; with `both` in English, as the findings themselves are."""
    return PHRASES[key][language == "zh"].format(*values)


def verdict_words(verdict: Verdict, language: Language) -> str:
    """The verdict; with `both` in both languages."""
    english, chinese = VERDICTS[verdict]
    return f"{english} / {chinese}" if language == "both" else chinese if language == "zh" else english
