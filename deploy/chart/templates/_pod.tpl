{{- define "kruntimes.spread" -}}
{{- $ours := fromYaml (include "kruntimes.selector" .) -}}
{{- range .Values.topologySpreadConstraints -}}
{{- $constraint := . -}}
{{- if not (hasKey . "labelSelector") -}}
{{- $constraint = merge dict . (dict "labelSelector" (dict "matchLabels" $ours)) -}}
{{- end }}
- {{ toYaml $constraint | nindent 2 | trim }}
{{- else -}}
{{- /* Of the same version only, or a rolling update spreads new Pods around old ones. */ -}}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
- topologyKey: {{ . }}
  maxSkew: 1
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- toYaml $ours | nindent 6 }}
  matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end }}
{{- end -}}

{{- define "kruntimes.volumes" -}}
- name: configuration
  configMap:
    name: {{ include "kruntimes.fullname" . }}
{{- if .Values.plugins.requirements }}
- name: plugins
  emptyDir: {}
- name: temporary
  emptyDir: {}
{{- with .Values.plugins.wheelhouse }}
- name: wheelhouse
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- else }}
{{- with .Values.plugins.volume }}
- name: plugins
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}
