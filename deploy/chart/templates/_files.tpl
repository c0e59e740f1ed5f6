{{- /* What is mounted as /etc/kruntimes. */ -}}
{{- define "kruntimes.files" -}}
{{- $kind := dict "apiVersion" "kruntimes.io/config/v1" "kind" "SchedulerConfiguration" -}}
config.yaml: |
  {{- toYaml (merge dict (.Values.config | default dict) $kind) | nindent 2 }}
{{- with .Values.plugins.requirements }}
requirements.txt: |
  {{- . | nindent 2 }}
{{- end }}
{{- end -}}
