"""Processors that code is made for, and what they can do in one instruction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import llvmlite
import llvmlite.binding as llvm


@dataclass(frozen=True)
class Target:
    """A processor by LLVM's names: triple, model, and features as in `+avx2,-avx512f`.

    What the processor lacks is written in the IR by other means, which give the same numbers.
    """

    triple: str
    cpu: str = "generic"
    features: str = ""

    @cached_property
    def has(self) -> frozenset[str]:
        """The features that are on."""
        return frozenset(name[1:] for name in self.features.split(",") if name.startswith("+"))

    @property
    def is_x86(self) -> bool:
        """Whether it is of Intel's and AMD's family, of 32 or 64 bits."""
        return self.triple.startswith(("x86_64", "i386", "i686", "amd64"))

    @property
    def is_arm(self) -> bool:
        """Whether it is a 64-bit ARM."""
        return self.triple.startswith(("aarch64", "arm64"))

    @property
    def products(self) -> str:
        """How four products of bytes are added to an int: an instruction, or `plain` arithmetic."""
        if self.is_x86 and {"avx512vnni", "avx512f"} <= self.has:
            return "avx512vnni"
        if self.is_x86 and ("avxvnni" in self.has or {"avx512vnni", "avx512vl"} <= self.has):
            return "avxvnni"
        if self.is_arm and "i8mm" in self.has:
            return "i8mm"
        return "avx2" if self.is_x86 and "avx2" in self.has else "plain"

    @property
    def lane_registers(self) -> int:
        """How many vectors of 16 numbers of 32 bits the registers hold."""
        if self.is_x86:
            return 32 if "avx512f" in self.has else 8 if "avx" in self.has else 4
        return 8

    @property
    def fused(self) -> bool:
        """Whether multiplying and adding is one instruction that rounds once."""
        return self.is_arm or bool({"fma", "avx512f"} & self.has)

    @property
    def halves(self) -> bool:
        """Whether floats of 16 bits are loaded and stored by instructions."""
        return self.is_arm or bool({"f16c", "avx512f"} & self.has)

    @property
    def identity(self) -> str:
        """Names the processor and the compiler: part of the key of stored object code."""
        version = ".".join(map(str, llvm.llvm_version_info))
        return f"{llvmlite.__version__} {version} {self.triple} {self.cpu} {self.features}"

    def machine(self) -> llvm.TargetMachine:
        """A new code generator. Raises RuntimeError if LLVM has none for the triple."""
        found = llvm.Target.from_triple(self.triple)
        return found.create_target_machine(cpu=self.cpu, features=self.features, opt=3, reloc="pic", jit=True)


@lru_cache(maxsize=1)
def host() -> Target:
    """The machine we run on."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    return Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), features)


@lru_cache(maxsize=1)
def wide_host() -> Target:
    """The machine we run on, with vectors as long as it has: by default LLVM halves those of 512 bits."""
    plain = host()
    if "avx512f" not in plain.has:
        return plain
    return Target(plain.triple, plain.cpu, f"{plain.features},-prefer-256-bit")
