{{- /* "yes" if one of several replicas is chosen by a Lease; else nothing. */ -}}
{{- define "kruntimes.elects" -}}
{{- if and .Values.leaderElection.enabled (not .Values.dryRun) }}yes{{ end -}}
{{- end -}}

{{- /* The port of the debug address; nothing where it is off. A dry run serves its report there. */ -}}
{{- define "kruntimes.debugPort" -}}
{{- if .Values.debug.port }}{{ int .Values.debug.port }}{{ else if .Values.dryRun }}8082{{ end -}}
{{- end -}}

{{- /* What the values say, as the command line of the host. */ -}}
{{- define "kruntimes.arguments" -}}
- scheduler
- --config=/etc/kruntimes/config.yaml
{{- if .Values.dryRun }}
- --dry-run
{{- else if include "kruntimes.elects" . }}
- --leader-elect
- --leader-elect-lease-duration={{ .Values.leaderElection.leaseDuration }}
- --leader-elect-renew-deadline={{ .Values.leaderElection.renewDeadline }}
- --leader-elect-retry-period={{ .Values.leaderElection.retryPeriod }}
{{- end }}
{{- with .Values.namespaces }}
- --namespaces={{ join "," . }}
{{- end }}
- --metrics-bind-address=:{{ int .Values.metrics.port }}
- --health-probe-bind-address=:{{ int .Values.health.port }}
{{- with include "kruntimes.debugPort" . }}
- --debug-bind-address=127.0.0.1:{{ . }}
{{- end }}
- --log-format={{ .Values.log.format }}
- --v={{ int .Values.log.verbosity }}
{{- with .Values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "kruntimes.pipArguments" -}}
# Without dependencies: the list is complete, and an index could have a stranger's package under one of our names.
- install
- --target=/plugins
- --upgrade
- --no-deps
- --require-hashes
- "--only-binary=:all:"
- --no-cache-dir
- --no-input
- --disable-pip-version-check
{{- if .Values.plugins.wheelhouse }}
- --no-index
- --find-links=/wheels
{{- end }}
- --requirement=/etc/kruntimes/requirements.txt
{{- end -}}
