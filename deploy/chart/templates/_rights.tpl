{{- /* What the host asks of the API server, and nothing else: a test removes each verb in turn. */ -}}
{{- define "kruntimes.rules" -}}
- apiGroups: [kruntimes.io]
  resources: [runs]
  verbs: [get, list, watch]
- apiGroups: [kruntimes.io]
  resources: [persistentworkspaces]
  verbs: [list, watch]
- apiGroups: [""]
  resources: [pods]
  verbs: [list, watch]
{{- if not .Values.dryRun }}
- apiGroups: [kruntimes.io]
  resources: [runs/status]
  verbs: [patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}
{{- end -}}

{{- define "kruntimes.subjects" -}}
- kind: ServiceAccount
  name: {{ include "kruntimes.serviceAccount" . }}
  namespace: {{ .Release.Namespace }}
{{- end -}}
