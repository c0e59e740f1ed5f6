{{- /* What the schema cannot say: values that do not go together. */ -}}
{{- define "kruntimes.checks" -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.leaderElection.enabled) (not .Values.dryRun) }}
{{- fail "replicas: more than one needs leaderElection.enabled, or each of them places every Run" }}
{{- end }}
{{- if and .Values.plugins.requirements .Values.plugins.volume }}
{{- fail "plugins.volume: not together with plugins.requirements: both fill /plugins" }}
{{- end }}
{{- if and .Values.plugins.wheelhouse (not .Values.plugins.requirements) }}
{{- fail "plugins.wheelhouse: plugins.requirements must say which of its wheels are installed" }}
{{- end }}
{{- with .Values.serviceMonitor }}
{{- if and .scrapeTimeout (gt (include "kruntimes.milliseconds" .scrapeTimeout | int) (include "kruntimes.milliseconds" .interval | int)) }}
{{- fail (printf "serviceMonitor.scrapeTimeout: %s is longer than serviceMonitor.interval, %s; Prometheus refuses that" .scrapeTimeout .interval) }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* A duration such as `1m30s`, as a number. */ -}}
{{- define "kruntimes.milliseconds" -}}
{{- $zero := toDate "2006-01-02" "1970-01-01" -}}
{{- sub (mustDateModify . $zero).UnixMilli $zero.UnixMilli -}}
{{- end -}}
