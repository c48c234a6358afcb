"""Messages of the commands in the words of a program: arguments in place of options, and the name of an open file."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from grove_core.kernel.structs import replace
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_sources import STDIN_NAME

_ADVICE: Final = MappingProxyType(
    {
        "try --kubeconfig FILE": "give another kubeconfig=",
        "is --context the one you mean?": "is context= the one you mean?",
    }
)
"""What messages about a connection advise on the command line -> what they advise in a program."""
_ARGUMENTS: Final = MappingProxyType({"--old": "old", "-f": "sources"})
"""As the file of a fault: an option with objects that it does not take -> the argument."""
_EXPECTED: Final = MappingProxyType({"given with -f": "given without old=", "as --old stands": "as old= stands"})


def advice_for_programs(message: str) -> str:
    """Return a message about a connection with the names of arguments (LB-015)."""
    return _replaced(message, _ADVICE)


def faults_for_programs(faults: Iterable[InputFault], stream: str) -> tuple[InputFault, ...]:
    """Return faults with the names of arguments (LB-015).

    Args:
        stream: the name of the open file that was read.
    """
    return tuple(_for_programs(one, stream) for one in faults)


def _for_programs(fault: InputFault, stream: str) -> InputFault:
    if fault.file == STDIN_NAME:
        return replace(fault, file=stream)
    argument = _ARGUMENTS.get(fault.file)
    if argument is None:
        return fault
    return replace(fault, file=argument, expected=_replaced(fault.expected, _EXPECTED))


def _replaced(text: str, words: Mapping[str, str]) -> str:
    for option, argument in words.items():
        text = text.replace(option, argument)
    return text
