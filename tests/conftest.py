"""What all tests share: a test may be a coroutine."""

import asyncio
import inspect

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = pyfuncitem._fixtureinfo.argnames
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted}), 60))
    return True
