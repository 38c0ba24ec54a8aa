"""The code behind the example workspace in `manifests/`: a small support desk."""
