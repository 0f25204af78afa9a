"""`FullyShardedDataParallel`: a module of whose parameters each rank keeps a part."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ..._base import dtypes as D
from ..._tensor.tensor import Tensor
from ...autograd.grad_mode import no_grad
from ...nn.modules.module import Module
from ...nn.parameter import Parameter
from .._ground import f, linalg
from ..collectives import all_gather_into_tensor, all_reduce, broadcast
from ..object_collectives import all_gather_object
from ..process_group import ProcessGroup, choose, get_rank
from ..reduce_op import ReduceOp
from ..subgroups import new_subgroups_by_enumeration
from ..tensor._api import DTensor, distribute_tensor
from ..tensor.placement_types import Shard
from ..world import this_node
from ._flat import FlatLayout
from ._unit import Place, Unit, cast_floats
from .api import (
    BackwardPrefetch,
    CPUOffload,
    FullOptimStateDictConfig,
    FullStateDictConfig,
    LocalStateDictConfig,
    MixedPrecision,
    OptimStateDictConfig,
    OptimStateKeyType,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    ShardingStrategy,
    StateDictConfig,
    StateDictSettings,
    StateDictType,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ...optim.optimizer import Optimizer
    from ..annotations import Given, State
    from ..device_mesh import DeviceMesh

__all__ = [
    "BackwardPrefetch", "CPUOffload", "FullOptimStateDictConfig", "FullStateDictConfig",
    "FullyShardedDataParallel", "LocalStateDictConfig", "MixedPrecision", "OptimStateKeyType",
    "ShardedOptimStateDictConfig", "ShardedStateDictConfig", "ShardingStrategy", "StateDictType",
]  # fmt: skip

_WRAPPED = "_fsdp_wrapped_module"
_PREFIX = f"{_WRAPPED}."
_HYBRID = (ShardingStrategy.HYBRID_SHARD, ShardingStrategy._HYBRID_SHARD_ZERO2)
_KEEPS = (ShardingStrategy.SHARD_GRAD_OP, ShardingStrategy._HYBRID_SHARD_ZERO2)


class FullyShardedDataParallel(Module):
    """A module whose parameters are gathered from all ranks while it runs.

    Parameters:
        module: the module, which is changed.
        process_group: the ranks it is spread over, or such a group and one of those with the same
            parts; None means all.
        sharding_strategy: what is spread; FULL_SHARD by default.
        auto_wrap_policy: which submodules are parts of their own, asked as those in `fsdp.wrap`
            are.
        mixed_precision: in which types is computed and sent, a `MixedPrecision`.
        ignored_modules, ignored_states: modules and parameters that stay whole.
        sync_module_states: whether all ranks start with the parameters of the first.
        use_orig_params: whether parameters keep their names; else a part has one, `_flat_param`.
        device_mesh: the ranks: of one side, or of two, along the second of which is cut.
        cpu_offload, backward_prefetch, param_init_fn, device_id: nothing here.
        forward_prefetch, limit_all_gathers: nothing here.
    Shapes: those of the module.
    Raises:
        ValueError: before `init_process_group`, and for hosts of unlike numbers of ranks.
        NotImplementedError: on a call of a module without `forward`.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> model = dist.fsdp.FullyShardedDataParallel(nn.Linear(2, 1))
        >>> model(torch.ones(3, 2)).sum().backward()
        >>> [name for name, _ in model.named_parameters()]
        ['_fsdp_wrapped_module._flat_param']
    """

    def __init__(
        self,
        module: Module,
        process_group: Given = None,
        sharding_strategy: ShardingStrategy | None = None,
        cpu_offload: CPUOffload | None = None,
        auto_wrap_policy: Given = None,
        backward_prefetch: BackwardPrefetch | None = BackwardPrefetch.BACKWARD_PRE,
        mixed_precision: MixedPrecision | None = None,
        ignored_modules: Iterable[Module] | None = None,
        param_init_fn: Callable[[Module], None] | None = None,
        device_id: Given = None,
        sync_module_states: bool = False,
        forward_prefetch: bool = False,
        limit_all_gathers: bool = True,
        use_orig_params: bool = False,
        ignored_states: Iterable[Given] | None = None,
        device_mesh: DeviceMesh | None = None,
    ) -> None:
        super().__init__()
        strategy = sharding_strategy or ShardingStrategy.FULL_SHARD
        self.process_group, self._replicas = _groups(process_group, device_mesh, strategy)
        self.sharding_strategy = strategy
        self.mixed_precision = mixed_precision or MixedPrecision()
        self._device_mesh = device_mesh
        self._use_orig_params = use_orig_params
        self._is_root: bool | None = None
        self._state_settings = StateDictSettings(
            StateDictType.FULL_STATE_DICT, FullStateDictConfig(), FullOptimStateDictConfig()
        )
        ignored = _find_ignored(ignored_modules, ignored_states)
        if auto_wrap_policy is not None:
            options = {
                "process_group": self._all_groups(), "sharding_strategy": strategy,
                "mixed_precision": mixed_precision, "use_orig_params": use_orig_params,
                "sync_module_states": sync_module_states, "device_mesh": device_mesh,
            }  # fmt: skip
            _wrap_parts(module, auto_wrap_policy, ignored, options)
        self._fsdp_wrapped_module = module
        if sync_module_states:
            self._start_alike(ignored)
        self._unit: Unit | None = None
        self._layout: FlatLayout | None = None
        self._cut_parameters(ignored)

    # ---- making ---------------------------------------------------------------------------------
    def _all_groups(self) -> Given:
        """The groups as an inner part takes them."""
        return (
            self.process_group if self._replicas is None else (self.process_group, self._replicas)
        )

    def _start_alike(self, ignored: set[int]) -> None:
        for group in filter(None, (self.process_group, self._replicas)):
            for tensor in [*self.module.parameters(), *self.module.buffers()]:
                if id(tensor) not in ignored and group.size() > 1:
                    broadcast(tensor.detach(), group=group, group_src=0)

    def _own_parameters(self, ignored: set[int]) -> dict[int, tuple[Tensor, str, list[Place]]]:
        """The parameters that no inner part has, with their names and all their places."""
        found: dict[int, tuple[Tensor, str, list[Place]]] = {}
        stack: list[tuple[str, Module]] = [("", self.module)]
        while stack:
            prefix, module = stack.pop()
            for name, parameter in module._parameters.items():
                if parameter is not None and id(parameter) not in ignored:
                    known = found.setdefault(id(parameter), (parameter, prefix + name, []))
                    known[2].append((module, name))
            inner = [
                (f"{prefix}{name}.", child)
                for name, child in module.named_children()
                if not isinstance(child, FullyShardedDataParallel)
            ]
            stack += reversed(inner)
        return found

    def _cut_parameters(self, ignored: set[int]) -> None:
        found = list(self._own_parameters(ignored).values())
        if not found:
            return
        group = self.process_group
        cut = self.sharding_strategy is not ShardingStrategy.NO_SHARD and group.size() > 1
        layout = FlatLayout(
            [parameter for parameter, _, _ in found], group.rank() if cut else 0,
            group.size() if cut else 1, self._use_orig_params, [name for _, name, _ in found],
        )  # fmt: skip
        places = [where for _, _, where in found]
        if self._use_orig_params:
            for parameter, where in zip(layout.parameters, places):
                for module, name in where:
                    module._parameters[name] = parameter
        precision = self.mixed_precision
        keeps = self.sharding_strategy in _KEEPS or not cut
        self._layout = layout
        self._unit = Unit(
            places, layout, group, keeps, precision.param_dtype,
            precision.reduce_dtype or precision.param_dtype, self._replicas, cut,
        )  # fmt: skip
        if not self._use_orig_params:
            self._unit.empty([parameter for parameter, _, _ in found])
            self.module.register_parameter("_flat_param", layout.parameters[0])

    # ---- parts ----------------------------------------------------------------------------------
    @property
    def module(self) -> Module:
        """The module inside."""
        return self._modules[_WRAPPED]

    def __getattr__(self, name: str) -> Given:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == _WRAPPED:
                raise
            return getattr(self._modules[_WRAPPED], name)

    def __getitem__(self, key: int) -> Given:
        return self.module[key]  # type: ignore[index]

    @staticmethod
    def fsdp_modules(module: Module, root_only: bool = False) -> list[FullyShardedDataParallel]:
        """All such modules in a module; with `root_only` those that are in no other."""
        found = [m for m in module.modules() if isinstance(m, FullyShardedDataParallel)]
        if not root_only:
            return found
        inner = {id(m) for one in found for m in one.module.modules()}
        return [m for m in found if id(m) not in inner]

    def check_is_root(self) -> bool:
        """Whether the module is in no other such module, as its first forward has found."""
        return bool(self._is_root)

    # ---- running --------------------------------------------------------------------------------
    def _find_root(self) -> None:
        if self._is_root is None:
            self._is_root = True
            for inner in self.fsdp_modules(self)[1:]:
                inner._is_root = False
            dtype = self.mixed_precision.buffer_dtype
            if dtype is not None:
                for buffer in self.module.buffers():
                    if buffer.is_floating_point():
                        buffer.data = buffer.to(dtype)

    def forward(self, *args: Given, **kwargs: Given) -> Given:
        """What the module gives."""
        self._find_root()
        precision = self.mixed_precision
        casts = (
            precision.cast_root_forward_inputs if self._is_root else precision.cast_forward_inputs
        )
        if precision.param_dtype is not None and casts:
            args, kwargs = cast_floats((args, kwargs), precision.param_dtype)
        if self._unit is None:
            return self.module(*args, **kwargs)
        with self._unit.whole():
            return self.module(*args, **kwargs)

    def _units(self) -> list[Unit]:
        return [m._unit for m in self.fsdp_modules(self) if m._unit is not None]

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """A context in which gradients are added up on each rank alone."""
        units = self._units()
        for unit in units:
            unit.sends = False
        try:
            yield
        finally:
            for unit in units:
                unit.sends = True

    @no_grad()
    def clip_grad_norm_(self, max_norm: float, norm_type: float = 2.0) -> Tensor:
        """Scales the gradients of all parts so that their norm is at most `max_norm`."""
        norm_type = float(norm_type)
        gradients = [p.grad for p in self.parameters() if p.grad is not None]
        norms = [linalg.vector_norm(g, norm_type, dtype=D.float32) for g in gradients]
        total = linalg.vector_norm(f.stack(norms), norm_type) if norms else f.tensor(0.0)
        if self.sharding_strategy is not ShardingStrategy.NO_SHARD:
            if norm_type == float("inf"):
                all_reduce(total, ReduceOp.MAX, self.process_group)
            else:
                total = total**norm_type
                all_reduce(total, group=self.process_group)
                total = total ** (1.0 / norm_type)
        factor = (float(max_norm) / (total + 1e-6)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(factor.to(gradient.dtype))
        return total.to(gradients[0].dtype) if gradients else total

    @staticmethod
    @contextlib.contextmanager
    def summon_full_params(
        module: Module,
        recurse: bool = True,
        writeback: bool = True,
        rank0_only: bool = False,
        offload_to_cpu: bool = False,
        with_grads: bool = False,
    ) -> Iterator[None]:
        """A context in which the modules have whole parameters, which may be changed."""
        every = FullyShardedDataParallel.fsdp_modules(module)
        with contextlib.ExitStack() as stack, no_grad():
            shown = []
            for one in every if recurse else every[:1]:
                if one._unit is not None and one._layout is not None:
                    shown.append((one, _show_plain(one._unit, one._layout)))
                    flat = one.module._parameters.pop("_flat_param", None)
                    stack.callback(one._put_back, flat)
            yield
            if writeback:
                for one, wholes in shown:
                    assert one._layout is not None
                    one._layout.take(wholes)

    def _put_back(self, flat: Parameter | None) -> None:
        assert self._unit is not None
        self._unit.hide()
        if flat is not None:
            self.module.register_parameter("_flat_param", flat)

    # ---- state dictionaries ---------------------------------------------------------------------
    @staticmethod
    def set_state_dict_type(
        module: Module,
        state_dict_type: StateDictType,
        state_dict_config: StateDictConfig | None = None,
        optim_state_dict_config: OptimStateDictConfig | None = None,
    ) -> StateDictSettings:
        """Chooses the kind of state dictionaries; gives what was chosen before."""
        default: dict[StateDictType, tuple[StateDictConfig, OptimStateDictConfig]] = {
            StateDictType.FULL_STATE_DICT: (FullStateDictConfig(), FullOptimStateDictConfig()),
            StateDictType.SHARDED_STATE_DICT: (
                ShardedStateDictConfig(), ShardedOptimStateDictConfig(),
            ),
            StateDictType.LOCAL_STATE_DICT: (LocalStateDictConfig(), OptimStateDictConfig()),
        }  # fmt: skip
        config, optim_config = default[state_dict_type]
        chosen_now = StateDictSettings(
            state_dict_type, state_dict_config or config, optim_state_dict_config or optim_config
        )
        before = None
        for one in FullyShardedDataParallel.fsdp_modules(module):
            before = before or one._state_settings
            one._state_settings = chosen_now
        assert before is not None
        return before

    @staticmethod
    def get_state_dict_type(module: Module) -> StateDictSettings:
        """The kind of state dictionaries that is chosen."""
        return FullyShardedDataParallel.fsdp_modules(module)[0]._state_settings

    @staticmethod
    @contextlib.contextmanager
    def state_dict_type(
        module: Module,
        state_dict_type: StateDictType,
        state_dict_config: StateDictConfig | None = None,
        optim_state_dict_config: OptimStateDictConfig | None = None,
    ) -> Iterator[None]:
        """A context in which state dictionaries are of a kind."""
        own = FullyShardedDataParallel
        before = own.set_state_dict_type(
            module, state_dict_type, state_dict_config, optim_state_dict_config
        )
        try:
            yield
        finally:
            own.set_state_dict_type(
                module, before.state_dict_type, before.state_dict_config,
                before.optim_state_dict_config,
            )  # fmt: skip

    def state_dict(self, *args: Given, **kwargs: Given) -> Given:
        """The parameters by the names that they have in the module: whole, or this rank's part."""
        settings = self._state_settings
        if settings.state_dict_type is StateDictType.LOCAL_STATE_DICT:
            return super().state_dict(*args, **kwargs)
        with self.summon_full_params(self, writeback=False):
            held = super().state_dict(*args, **kwargs)
        out = type(held)((k.replace(_PREFIX, ""), _copy(v)) for k, v in held.items())
        if hasattr(held, "_metadata"):
            out._metadata = held._metadata  # type: ignore[attr-defined]
        if settings.state_dict_type is StateDictType.SHARDED_STATE_DICT:
            mesh = self._mesh()
            for key, value in out.items():
                if value.dim() and key not in dict(self.module.named_buffers()):
                    out[key] = distribute_tensor(value, mesh, [Shard(0)], src_data_rank=None)
        elif getattr(settings.state_dict_config, "rank0_only", False) and get_rank() != 0:
            out.clear()
        return out

    def _mesh(self) -> DeviceMesh:
        from ..device_mesh import DeviceMesh

        return self._device_mesh or DeviceMesh.from_group(self.process_group, "cpu")

    def load_state_dict(
        self, state_dict: Given, strict: bool = True, assign: bool = False
    ) -> Given:
        """Takes what `state_dict` of the chosen kind gave."""
        if self._state_settings.state_dict_type is StateDictType.LOCAL_STATE_DICT:
            return super().load_state_dict(state_dict, strict, assign)
        full = {k: v.full_tensor() if isinstance(v, DTensor) else v for k, v in state_dict.items()}
        with self.summon_full_params(self):
            inside = {k.replace(_PREFIX, ""): k for k in super().state_dict()}
            named = {inside.get(key, key): value for key, value in full.items()}
            return super().load_state_dict(named, strict)

    @staticmethod
    def optim_state_dict(
        model: Module, optim: Optimizer, optim_state_dict: State | None = None, group: Given = None
    ) -> State:
        """An optimizer's state by the names of the parameters, whole."""
        held = optim.state_dict() if optim_state_dict is None else optim_state_dict
        numbers = _numbers(optim)
        state: State = {}
        names: dict[int, list[str]] = {}
        for one, prefix in _with_prefix(model):
            layout = one._layout
            if layout is None:
                continue
            own = [numbers.get(id(p)) for p in layout.parameters]
            paths = [prefix + name.replace(_PREFIX, "") for name in layout.names]
            for place, number in enumerate(own):
                if number is not None:
                    names[number] = [paths[place]] if layout.pieces else paths
            if any(number in held["state"] for number in own):
                states = [held["state"].get(number, {}) for number in own]
                state |= _whole_states(one, layout, states, paths)
        groups = [
            {**g, "params": [name for number in g["params"] for name in names.get(number, [])]}
            for g in held["param_groups"]
        ]
        settings = FullyShardedDataParallel.get_state_dict_type(model).optim_state_dict_config
        if getattr(settings, "rank0_only", False) and get_rank() != 0:
            return {}
        return {"state": state, "param_groups": groups}

    @staticmethod
    def optim_state_dict_to_load(
        model: Module, optim: Optimizer, optim_state_dict: State, is_named_optimizer: bool = False,
        load_directly: bool = False, group: Given = None,
    ) -> State:  # fmt: skip
        """What `optim_state_dict` gave as the optimizer's `load_state_dict` takes it."""
        numbers = _numbers(optim)
        held = optim.state_dict()
        state: dict[int, Given] = {}
        for one, prefix in _with_prefix(model):
            layout = one._layout
            if layout is None:
                continue
            paths = [prefix + name.replace(_PREFIX, "") for name in layout.names]
            states = [optim_state_dict["state"].get(path) for path in paths]
            if all(s is None for s in states):
                continue
            own = [numbers.get(id(p)) for p in layout.parameters]
            for number, part in zip(own, _own_states(layout, states)):
                if number is not None:
                    state[number] = part
        given = optim_state_dict["param_groups"]
        groups = [{**g, "params": h["params"]} for g, h in zip(given, held["param_groups"])]
        made = {"state": state, "param_groups": groups}
        if load_directly:
            optim.load_state_dict(made)
        return made


def _groups(
    given: Given, mesh: DeviceMesh | None, strategy: ShardingStrategy
) -> tuple[ProcessGroup, ProcessGroup | None]:
    """The ranks that a parameter is cut for, and those that have the same part of it."""
    if mesh is not None and mesh.ndim == 2:
        return mesh.get_group(1), mesh.get_group(0)
    if mesh is not None:
        return mesh.get_group(), None
    if isinstance(given, tuple):
        return given[0], given[1]
    if strategy in _HYBRID and given is None:
        return _groups_by_host()
    return choose(given), None


def _groups_by_host() -> tuple[ProcessGroup, ProcessGroup | None]:
    """This rank's host, and the ranks with its place on other hosts.

    Raises:
        ValueError: where hosts have unlike numbers of ranks.
    """
    hosts: list[object] = [None] * choose().size()
    all_gather_object(hosts, this_node())
    ranks = [[i for i, one in enumerate(hosts) if one == host] for host in dict.fromkeys(hosts)]
    if len(ranks) == 1:
        return choose(), None
    if len({len(one) for one in ranks}) > 1:
        raise ValueError(f"HYBRID_SHARD needs as many ranks on each host, not {ranks}")
    mine, _ = new_subgroups_by_enumeration(ranks)
    alike, _ = new_subgroups_by_enumeration([list(row) for row in zip(*ranks)])
    assert isinstance(mine, ProcessGroup) and isinstance(alike, ProcessGroup)
    return mine, alike


def _find_ignored(modules: Iterable[Module] | None, states: Iterable[Given] | None) -> set[int]:
    found = {id(p) for module in modules or () for p in module.parameters()}
    for one in states or ():
        found |= {id(p) for p in one.parameters()} if isinstance(one, Module) else {id(one)}
    return found


def _wrap_parts(module: Module, policy: Given, ignored: set[int], options: Given) -> int:
    """Wraps the parts that a policy takes, the inner ones first; how many elements are in parts."""
    taken = 0
    for name, child in list(module.named_children()):
        if isinstance(child, FullyShardedDataParallel):
            continue
        count = sum(p.numel() for p in child.parameters() if id(p) not in ignored)
        inside = 0
        if policy(module=child, recurse=True, nonwrapped_numel=count):
            inside = _wrap_parts(child, policy, ignored, options)
        left = count - inside
        chosen = policy(module=child, recurse=False, nonwrapped_numel=left)
        if chosen:
            own = chosen if isinstance(chosen, dict) else {}
            setattr(module, name, FullyShardedDataParallel(child, **options | own))
            inside = count
        taken += inside
    return taken


def _show_plain(unit: Unit, layout: FlatLayout) -> list[Tensor]:
    """Whole parameters of the types that the parts have, as plain parameters."""
    before, unit.param_dtype = unit.param_dtype, None
    try:
        wholes = unit.show()
    finally:
        unit.param_dtype = before
    out: list[Tensor] = []
    for places, whole in zip(unit.places, wholes):
        parameter = Parameter(whole.detach().clone(), requires_grad=whole.is_floating_point())
        for module, name in places:
            module._parameters[name] = parameter
        out.append(parameter)
    return out


def _copy(value: Given) -> Given:
    return value.detach().clone() if isinstance(value, Tensor) else value


def _numbers(optim: Optimizer) -> dict[int, int]:
    every = [p for group in optim.param_groups for p in group["params"]]
    return {id(p): number for number, p in enumerate(every)}


def _with_prefix(model: Module) -> list[tuple[FullyShardedDataParallel, str]]:
    return [
        (m, f"{name}.".replace(_PREFIX, "") if name else "")
        for name, m in ((n.replace(_PREFIX, ""), m) for n, m in model.named_modules())
        if isinstance(m, FullyShardedDataParallel)
    ]


def _whole_states(
    one: FullyShardedDataParallel, layout: FlatLayout, states: list[State], paths: list[str]
) -> State:
    """The state of each whole parameter, from those of this rank's parts."""
    out: State = {path: {} for path in paths}
    keys = next((list(s) for s in states if s), [])
    unit = one._unit
    assert unit is not None
    for key in keys:
        held = [s.get(key) for s in states]
        like = next(h for h in held if h is not None)
        if not isinstance(like, Tensor) or like.dim() == 0:
            for place, path in enumerate(paths):
                out[path][key] = _copy(held[place if layout.pieces else 0])
            continue
        row = layout.in_a_row([h for h in held if h is not None])
        rows = row.new_empty(row.numel() * unit.group.size()) if unit.cut else row
        if unit.cut:
            all_gather_into_tensor(rows, row.contiguous(), unit.group)
        for path, whole in zip(paths, layout.wholes(rows)):
            out[path][key] = whole.clone()
    return out


def _own_states(layout: FlatLayout, states: list[Given]) -> list[State]:
    """The state of this rank's parts, from those of whole parameters."""
    out: list[State] = [{} for _ in layout.parameters]
    cuts = layout.cuts() if layout.pieces else [(0, layout.length)]
    for key, like in next(s for s in states if s is not None).items():
        if not isinstance(like, Tensor) or like.dim() == 0:
            for place, part in enumerate(out):
                part[key] = _copy((states[place] if layout.pieces else states[0])[key])
            continue
        own = layout.own_part(f.cat([s[key].reshape(-1) for s in states]))
        for part, (a, b) in zip(out, cuts):
            part[key] = own[a:b].clone()
    return out
