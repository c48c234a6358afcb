"""The admission webhooks: they default and validate PodCliqueSets, and more kinds where a feature needs it, over HTTPS.

``admission_review`` parses and writes AdmissionReviews, and ``handlers`` has one function for each webhook.
``admission_cache`` holds what their verdicts depend on.
``update_preview`` warns of what an update restarts, as a program of its own: ``namespace_preview_settings`` is what
a namespace allows, ``preview_input_reading`` reads the set, and ``edit_forecast`` forecasts its update.
``certificates`` makes, reads and serves certificates; ``certificate_rotation`` shares them and registers the authority.
"""
