"""Jobs of Ray by their entry point: Anyscale's job files and KubeRay's RayJob; the program itself says on how many GPUs it trains.

docs.anyscale.com/reference/job-api (JobConfig); ray-project/kuberay ray-operator/apis/ray/v1/rayjob_types.go (RayJobSpec.Entrypoint).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.launches.jobs._format import Documents, JobFormat, child, entries, parts, text, variables
from pytest_gbs.model.command import Folder, Job, Machines
from pytest_gbs.model.document import Document, Scalar

# Of an Anyscale job, beside its entry point; `env_vars` alone are read elsewhere too.
_KEYS: Final = frozenset(("compute_config", "image_uri", "containerfile", "cluster_env", "runtime_env", "working_dir", "submission_id"))


def read(document: Document, _: Documents) -> Iterator[Job]:
    """Yield the job of a document that has an entry point and is Anyscale's, or a RayJob."""
    is_ray_job = text(child(document.root, "kind")) == "RayJob"
    job = child(document.root, "spec") if is_ray_job else document.root
    found = dict(entries(job))
    entry = found.get("entrypoint")
    if not isinstance(entry, Scalar) or not (is_ray_job or found.keys() & _KEYS):
        return
    environment = tuple(variables(document, found.get("env_vars"), child(found.get("runtime_env"), "env_vars")))
    folder = text(found.get("working_dir")) or text(child(found.get("runtime_env"), "working_dir")) or ""
    yield Job(parts(document, entry), (), environment, Machines(), Folder(folder if "://" not in folder else ""))


FORMAT = JobFormat("Ray", "job files of Anyscale and RayJobs: entrypoint", r"^[ \t]*entrypoint[ \t]*:", read)
