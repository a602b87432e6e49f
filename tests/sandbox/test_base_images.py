"""The base images under the arena's limits for bots."""

import pytest

from arena.protocol.match import Limits
from tests.sandbox.stage import DockerStage, run, run_source

pytestmark = pytest.mark.docker

USES_NUMPY = """
import os, sys
import numpy
a = numpy.random.default_rng(1).random((400, 400))
assert abs((a @ numpy.linalg.inv(a)).trace() - 400) < 1e-6
print("threads", len(os.listdir("/proc/self/task")), file=sys.stderr)
"""

USES_NODE = """
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { gzip, gunzip } from "node:zlib";

const bytes = randomBytes(100_000);
await writeFile("/tmp/bytes", await promisify(gzip)(bytes));
console.error(bytes.equals(await promisify(gunzip)(await readFile("/tmp/bytes"))));
console.error((await promisify(execFile)("node", ["-p", "6 * 7"])).stdout.trim());
const worker = new Worker(
    "import { parentPort } from 'node:worker_threads'; parentPort.postMessage(6 * 7)", { eval: true });
worker.on("message", (said) => console.error(said));
const empty = [0, 97, 115, 109, 1, 0, 0, 0];
console.error((await WebAssembly.instantiate(new Uint8Array(empty))).module instanceof WebAssembly.Module);
"""


AGAIN_WITHOUT_THE_SETTING = f"""
print("cores", len(os.sched_getaffinity(0)), file=sys.stderr)
del os.environ["OPENBLAS_NUM_THREADS"]
os.execv(sys.executable, [sys.executable, "-c", {USES_NUMPY!r}])
"""


def test_numpy_computes_in_one_thread(docker_stage: DockerStage) -> None:
    """NumPy can be imported from the read-only root. It multiplies and inverts matrices in one thread.

    Only the image's environment limits it: without the setting, NumPy starts a thread for each core.
    """
    ended, said = run(docker_stage, USES_NUMPY + AGAIN_WITHOUT_THE_SETTING, limits=Limits())
    assert ended.code == 0, said
    limited, cores, unlimited = said.splitlines()
    assert limited == "threads 1"
    assert unlimited == cores.replace("cores", "threads")


def test_a_javascript_file_is_a_module(docker_stage: DockerStage, javascript_image: str) -> None:
    """A .js or .mjs file can import the library. It can write to /tmp, but not to its own folder."""
    program = (
        "import { CARDS } from 'kaiten'; import { writeFileSync } from 'node:fs';"
        "writeFileSync('/tmp/x', CARDS[0]); "
        "try { writeFileSync('x', ''); } catch (error) { console.error(CARDS.length, error.code); }"
    )
    steps = f'USER 0\nRUN echo "{program}" | tee /bot/bot.js >/bot/bot.mjs'
    image = docker_stage.image(steps, javascript_image)
    for file in ("bot.js", "bot.mjs"):
        bot = docker_stage.started_by(["node", f"/bot/{file}"], image)
        ended, said = run_source(docker_stage, bot, limits=Limits())
        assert (ended.code, said) == (0, "13 EROFS\n")


def test_node_has_the_system_calls_it_needs(docker_stage: DockerStage, javascript_image: str) -> None:
    """Files, compression, child processes, worker threads and WebAssembly work under the allow-list."""
    program = ["node", "--input-type=module", "--eval", USES_NODE]
    image = docker_stage.started_by(program, javascript_image)
    ended, said = run_source(docker_stage, image, limits=Limits())
    assert (ended.code, sorted(said.split())) == (0, ["42", "42", "true", "true"])
