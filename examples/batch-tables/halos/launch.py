import hydra


@hydra.main(version_base=None, config_path="config", config_name="config")
def main(config): ...
