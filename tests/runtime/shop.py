"""The code behind the workspaces of these tests: tools, policies, hooks and factories, good and bad."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Awaitable, Callable, Mapping
from inspect import Parameter, signature
from typing import Any

from symc.contracts import PolicyRequest, PolicyVerdict, tool

Layer = Callable[..., Awaitable[str]]

log: list[str] = []
"""What happened, in order; each test starts with an empty one."""

config_seen: list[Any] = []


async def echo(arguments: Mapping[str, Any]) -> str:
    """Answer the arguments."""
    log.append(f"echo {json.dumps(arguments, sort_keys=True)}")
    return json.dumps(arguments, sort_keys=True)


async def fail(arguments: Mapping[str, Any]) -> str:
    raise LookupError("nothing there")


async def number(arguments: Mapping[str, Any]) -> Any:
    return 7


def not_async(arguments: Mapping[str, Any]) -> str:
    return "x"


async def two_arguments(key: str, more: str) -> str:
    return key + more


async def of_many_ways(arguments: Mapping[str, Any], more: str = "") -> str:
    return more


@tool
async def declared(key: str) -> str:
    """Does declared."""
    return key


constant = 7


# policies


async def allows(request: PolicyRequest) -> PolicyVerdict:
    log.append(f"asked {request.tool}")
    return PolicyVerdict.ALLOW


async def denies(request: PolicyRequest) -> PolicyVerdict:
    return PolicyVerdict.DENY("never")


async def breaks(request: PolicyRequest) -> PolicyVerdict:
    raise RuntimeError("broken")


# hooks


def __getattr__(name: str) -> Any:
    """Hooks by name: `install_a` is noted, `fails_a` is noted and raises."""
    for start in ("install_", "teardown_", "fails_"):
        if name.startswith(start):
            return functools.partial(_note, name, fails=start == "fails_")
    raise AttributeError(name)


def _note(name: str, *, fails: bool) -> None:
    log.append(name)
    if fails:
        raise OSError(f"{name} cannot")


async def slow_install() -> None:
    log.append("slow_install")
    await asyncio.sleep(60)


async def slow_teardown_b() -> None:
    log.append("slow_teardown_b")
    await asyncio.sleep(0.05)
    log.append("slow_teardown_b ends")


# factories that are good


def plain(func: Layer, name: str, description: str) -> Layer:
    """A wrapper by functools: presents what it received."""

    @functools.wraps(func)
    async def wrapper(*args: Any, **kwargs: Any) -> str:
        return await func(*args, **kwargs)

    return wrapper


def noted(func: Layer, name: str, description: str) -> Layer:
    """A wrapper that tells what it is called with."""

    @functools.wraps(func)
    async def wrapper(**arguments: Any) -> str:
        log.append(f"{name} {sorted(arguments)}")
        return await func(**arguments)

    return wrapper


def memo(func: Layer, name: str, description: str) -> Layer:
    """A wrapper that reserves `exp`, with an explicit signature."""
    kept: dict[str, str] = {}

    async def wrapper(exp: float = 0.0, **arguments: Any) -> str:
        key = repr(sorted(arguments.items()))
        if key not in kept:
            kept[key] = await func(**arguments)
        return f"{kept[key]} for {exp:g}"

    received = signature(func)
    reserved = Parameter("exp", Parameter.KEYWORD_ONLY, default=0.0)
    named = [one for one in received.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
    rest = [one for one in received.parameters.values() if one.kind is Parameter.VAR_KEYWORD]
    wrapper.__signature__ = received.replace(parameters=[*named, reserved, *rest])  # type: ignore[attr-defined]
    return wrapper


def made(func: Layer, name: str, description: str) -> Layer:
    """A wrapper by makefun: every parameter is passed on, given or not."""
    import makefun

    @makefun.wraps(func, append_args=[Parameter("exp", Parameter.POSITIONAL_OR_KEYWORD, default=None)])  # type: ignore[untyped-decorator]
    async def wrapper(exp: Any, **arguments: Any) -> str:
        return await func(**arguments)

    return wrapper  # type: ignore[no-any-return]


def configured(func: Layer, name: str, description: str, config: Mapping[str, Any]) -> Layer:
    config_seen.append(config)
    return plain(func, name, description)


def bulk(func: Layer, name: str, description: str) -> Layer:
    """A transformer: many calls of the inner one."""

    async def call(params: list[dict[str, Any]]) -> str:
        answers = []
        for one in params:
            try:
                answers.append(await func(**one))
            except Exception as error:
                answers.append(str(error))
        return "\n".join(answers)

    return call


def anything(func: Layer, name: str, description: str) -> Layer:
    """A wrapper of whatever it is given, by `**` alone."""

    async def wrapper(**arguments: Any) -> str:
        return await func(**{key: value for key, value in arguments.items() if key != "exp"})

    return wrapper


def somewhere(func: Layer, name: str, description: str) -> Layer:
    """Stands for a backend: keeps the inner callable where it is."""
    return plain(func, name, description)


# factories that are not


def same(func: Layer, name: str, description: str) -> Layer:
    return func


def bare(func: Layer, name: str, description: str) -> Layer:
    async def wrapper(*args: Any, **kwargs: Any) -> str:
        return await func(*args, **kwargs)

    return wrapper


def sync(func: Layer, name: str, description: str) -> Any:
    def wrapper(key: str) -> str:
        return key

    return wrapper


def nothing(func: Layer, name: str, description: str) -> Any:
    return None


def raises(func: Layer, name: str, description: str) -> Layer:
    raise KeyError("no pool")


def complains(func: Layer, name: str, description: str, config: Mapping[str, Any]) -> Layer:
    raise OSError(f"cannot reach {config['url']}")


def unmarked(func: Layer, name: str, description: str) -> Layer:
    async def wrapper(key: str, limit: int = 1) -> str:
        return await func(key=key, limit=limit)

    return wrapper


def one_less(func: Layer, name: str, description: str) -> Layer:
    @functools.wraps(func)
    async def wrapper(**arguments: Any) -> str:
        return await func(**arguments)

    received = signature(func)
    wrapper.__signature__ = received.replace(parameters=list(received.parameters.values())[:1])  # type: ignore[attr-defined]
    return wrapper


def one_more(func: Layer, name: str, description: str) -> Layer:
    return _with(func, Parameter("depth", Parameter.KEYWORD_ONLY, default=1))


def catches(func: Layer, name: str, description: str) -> Layer:
    return _with(func, Parameter("rest", Parameter.VAR_KEYWORD))


def required_exp(func: Layer, name: str, description: str) -> Layer:
    return _with(func, Parameter("exp", Parameter.KEYWORD_ONLY))


def _with(func: Layer, parameter: Parameter) -> Layer:
    async def wrapper(**arguments: Any) -> str:
        return await func(**arguments)

    received = signature(func)
    wrapper.__signature__ = received.replace(parameters=[*received.parameters.values(), parameter])  # type: ignore[attr-defined]
    return wrapper


def without_description(func: Layer, name: str) -> Layer:
    return plain(func, name, "")


async def async_factory(func: Layer, name: str, description: str) -> Layer:
    return plain(func, name, description)
