"""Decoder-only models of transformers from a folder: its own model code, number types, what is refused.

Only what is needed is imported: the Llama family by its module, anything else through the automatic classes.
Weights of the Llama family are mapped from the safetensors file, not copied, where the type fits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import safe_open

from sglc.runtime.model.config import read_config
from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.model.weights.fewer_layers import kept_layers
from sglc.runtime.model.weights.safetensors_file import weight_files

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from sglc.runtime.model.weights.family import Config

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
SHORT_DTYPES = {"fp32": "float32", "f32": "float32", "bf16": "bfloat16", "fp16": "float16", "f16": "float16"}
_RECURRENT = ("linear_attention", "mamba", "recurrent", "conv", "chunked_attention")


def load_decoder(
    folder: Path, dtype: str | None = None, device: str = "cpu", *, shared: bool = False
) -> PreTrainedModel:
    """The model in a folder with config.json and safetensors, ready to run on the device. Raises ModelError.

    Code from the folder is never run. `dtype` as for `choose_dtype`. `shared` gives this process its share of
    a model that is divided among all processes of an initialised group, by the plan of its architecture.
    """
    config = _read_config(folder)
    if shared:
        _check_shares(folder, config)
    kind = choose_dtype(dtype, device)
    _check_device(device)
    model: Any
    try:
        if shared:
            model = _load_any(folder, kind, shared=True)
        elif config.get("model_type") == "llama":
            model = _load_llama(folder, config, kind)
        else:
            model = _load_any(folder, kind)
        if not shared:
            model.to(device)
    except ModelError:
        raise
    except Exception as error:  # configurations and model code meet a wrong value with whatever it leads to
        raise ModelError("cannot load the model", str(folder), first_line(error)) from error
    ready: PreTrainedModel = model.eval()
    return ready


def leave_out(model: PreTrainedModel, layers: Sequence[int], name: str) -> None:
    """Remove layers of a decoder and number the others anew. Raises ModelError."""
    config: Any = model.config
    count = int(config.num_hidden_layers)
    kept = kept_layers(count, layers, name)
    stacks = [
        part for part in model.modules() if isinstance(part, torch.nn.ModuleList) and len(part) == count
    ]
    if len(stacks) != 1:
        raise ModelError("layers cannot be left out", name, f"it has {len(stacks)} stacks of {count} layers")
    for layer in reversed(range(count)):
        if layer not in kept:
            del stacks[0][layer]
    for number, layer_module in enumerate(stacks[0]):
        numbered: Any
        for numbered in layer_module.modules():
            if hasattr(numbered, "layer_idx"):
                numbered.layer_idx = number
    config.num_hidden_layers = len(kept)
    if getattr(config, "layer_types", None):
        config.layer_types = [config.layer_types[layer] for layer in kept]


def fingerprint(model: PreTrainedModel) -> str:
    """Hexadecimal digest of a model's configuration and weights; of each weight a few numbers count.

    Two models that were trained apart differ in nearly all of their weights.
    """
    digest = hashlib.blake2b(digest_size=16)
    config = {key: value for key, value in model.config.to_dict().items() if not key.startswith("_")}
    digest.update(json.dumps(config, sort_keys=True, default=str).encode())
    for name, parameter in model.named_parameters():
        weight = parameter.detach()
        flat = (weight.to_local() if hasattr(weight, "to_local") else weight).reshape(-1)
        some = torch.cat([flat[part : part + 16] for part in (0, len(flat) // 2, max(0, len(flat) - 16))])
        digest.update(f"{name} {tuple(weight.shape)} {weight.dtype}".encode())
        digest.update(some.cpu().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def context_length(config: object) -> int:
    """Most positions that a model of this configuration takes; 2^20 where it sets no limit."""
    return int(getattr(config, "max_position_embeddings", None) or 1 << 20)


def choose_dtype(name: str | None, device: str = "cpu") -> torch.dtype:
    """The named type, or the fastest that the device computes in natively. Raises ModelError."""
    if name is None or name == "auto":
        fast = device != "cpu" or torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
        return torch.bfloat16 if fast else torch.float32
    full = SHORT_DTYPES.get(name, name)
    if full not in DTYPES:
        raise ModelError("unknown number type", name, f"known are {', '.join(DTYPES)} and auto")
    return DTYPES[full]


def first_line(error: BaseException) -> str:
    """What an error says, cut to its first line; its kind where it says nothing."""
    return str(error).strip().split("\n", 1)[0] or type(error).__name__


def _read_config(folder: Path) -> Config:
    config = read_config(folder)
    layers = config.get("layer_types")
    kinds = [*(layers if isinstance(layers, list) else ()), config.get("model_type")]
    for kind in kinds:
        if any(mark in str(kind) for mark in _RECURRENT):
            raise ModelError(
                "model architecture not supported",
                str(folder),
                f"{kind}: its memory cannot be cut back, which structured generation needs",
            )
    return config


def _check_device(name: str) -> None:
    """Raise ModelError for a device that is not there, before weights are read for it."""
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ModelError("unknown device", name, first_line(error)) from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        raise ModelError("device not available", name, f"torch finds {count} CUDA devices on this machine")


def _check_shares(folder: Path, config: Config) -> None:
    """Raise ModelError where heads cannot be divided evenly among the processes of the group."""
    from torch.distributed import get_world_size

    for key in ("num_attention_heads", "num_key_value_heads", "n_head"):
        if int(config.get(key) or 0) % get_world_size():
            why = f"{config[key]} heads ({key}) for {get_world_size()} processes"
            raise ModelError("the model cannot be divided", str(folder), why)


def _load_llama(folder: Path, config: Config, dtype: torch.dtype) -> PreTrainedModel:
    """The Llama family: an empty model whose parameters become views of the mapped file."""
    from transformers.models.llama.configuration_llama import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaForCausalLM, LlamaRotaryEmbedding

    if config.get("quantization_config"):
        raise ModelError("model variant not supported", str(folder), "its weights are quantised")
    settings = LlamaConfig.from_dict(dict(config))
    with torch.device("meta"):
        model = LlamaForCausalLM(settings)
    weights: dict[str, torch.Tensor] = {}
    for path in weight_files(folder):
        with safe_open(path, framework="pt") as file:
            for name in file.keys():
                weights[name] = file.get_tensor(name).to(dtype)
    if settings.tie_word_embeddings:
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    weights = {name: value for name, value in weights.items() if not name.endswith("rotary_emb.inv_freq")}
    try:
        names = model.load_state_dict(weights, strict=False, assign=True)
    except RuntimeError as error:
        last = str(error).strip().splitlines()[-1].strip()
        raise ModelError("the model is damaged", str(folder), f"its weights do not fit: {last}") from error
    _check_names(folder, names.missing_keys, names.unexpected_keys)
    model.model.rotary_emb = LlamaRotaryEmbedding(settings)
    return model


def _check_names(folder: Path, missing: Iterable[str], others: Iterable[str]) -> None:
    """Raise ModelError where a model lacks weights, or has some that there is no place for."""
    for said, names in (("have no", sorted(missing)), ("have an unknown", sorted(others))):
        if names:
            rest = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
            raise ModelError("the model is damaged", str(folder), f"its weights {said} {names[0]}{rest}")


def _load_any(folder: Path, dtype: torch.dtype, shared: bool = False) -> PreTrainedModel:
    """Any decoder that transformers has code for, or this process's share; runs no code from the folder."""
    from transformers import AutoModelForCausalLM
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # progress is told by who asked, and not where no terminal is
    more: dict[str, object] = {}
    if shared:
        from torch.distributed import get_world_size
        from transformers.distributed import DistributedConfig

        more["distributed_config"] = DistributedConfig(tp_plan="auto", tp_size=get_world_size())

    loaded: Any = AutoModelForCausalLM.from_pretrained(
        folder,
        dtype=dtype,
        local_files_only=True,
        trust_remote_code=False,
        use_safetensors=True,
        output_loading_info=True,
        **more,
    )
    model: PreTrainedModel = loaded[0]
    _check_names(folder, loaded[1]["missing_keys"], ())  # which transformers fills with random numbers
    return model
