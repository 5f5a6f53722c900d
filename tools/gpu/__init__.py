"""`dev.py first-contact`: everything that can be learned about an unknown GPU in half an hour, unattended.

plan.py says what a stage is; machine.py, answers.py, rates.py, faults.py and contest.py are the stages;
runner.py runs them, each in a process of its own, contact_log.py keeps what they found, and contact_report.py
tells it. With `rehearses` all of it runs on a CPU.

`dev.py simulated-gpus` needs no GPU: device_report.py measures the search before simulated_device.py.
"""
