"""The devices that evaluate for one search: what the config says of each of them.

`Device` is a list of numbers such as `0,1`; a number may occur several times. The other fields of the config
are for all devices, unless `more_devices` have their own; the names of their options are dlshogi's.
"""

from dataclasses import replace

from goryu.players.config import DeviceConfig, EvaluatorConfig
from goryu.players.set_up.threads import DEFAULT_THREADS


def config_of_each(config: EvaluatorConfig) -> list[EvaluatorConfig]:
    """Returns a config with one device for each of the devices of a config.

    A device that the list does not have is used if it has threads of its own, as in dlshogi: the second one
    is then the GPU of number 1.

    >>> config = EvaluatorConfig(device="0,2", threads=3, more_devices=(DeviceConfig(threads=1),))
    >>> [(each.device, each.threads) for each in config_of_each(config)]
    [('0', 3), ('2', 1)]
    """
    numbers = [number.strip() for number in config.device.split(",")]
    own = [DeviceConfig(), *config.more_devices]
    wanted = [i for i, device in enumerate(own) if device.threads]
    while len(numbers) <= max(wanted, default=0):
        numbers.append(str(len(numbers)))
    alone = replace(config, more_devices=())
    return [
        replace(
            alone,
            device=number,
            model=device.model or config.model,
            threads=device.threads or config.threads,
            batch_size=device.batch_size or config.batch_size,
        )
        for number, device in zip(numbers, own, strict=False)
    ]


def on_the_cpu(config: EvaluatorConfig) -> EvaluatorConfig:
    """Returns the config with the CPU in place of all devices, and its usual batches."""
    return replace(config, more_devices=(), device="-1", batch_size=0)


def searching_threads(config: EvaluatorConfig, measured: int = 0) -> int:
    """Returns how many threads search for all devices together.

    measured: for each device whose config names no number; 0 for the default.
    """
    return sum(each.threads or measured or DEFAULT_THREADS for each in config_of_each(config))


def are_alike(config: EvaluatorConfig) -> bool:
    """Have all devices the same model, threads and batch size, as far as the config says?"""
    return all(device == DeviceConfig() for device in config.more_devices)


def has_several_devices(config: EvaluatorConfig) -> bool:
    """Does a config have several devices?"""
    return len(config_of_each(config)) > 1
