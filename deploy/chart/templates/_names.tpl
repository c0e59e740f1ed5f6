{{- define "kruntimes.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- /* 40 characters, so that what is appended to it stays below 63. */ -}}
{{- define "kruntimes.fullname" -}}
{{- $name := include "kruntimes.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- .Values.fullnameOverride | default $full | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "kruntimes.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary (include "kruntimes.fullname" .) "default" .Values.serviceAccount.create) -}}
{{- end -}}

{{- define "kruntimes.selector" -}}
app.kubernetes.io/name: {{ include "kruntimes.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- /* Of the Pod of `helm test`, which the Service and the budget of the replicas must not select. */ -}}
{{- define "kruntimes.testSelector" -}}
app.kubernetes.io/name: {{ printf "%s-test" (include "kruntimes.name" . | trunc 58) }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "kruntimes.labels" -}}
{{ include "kruntimes.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* The labels of the chart and more, as (list $ more); more wins over what is the same in commonLabels. */ -}}
{{- define "kruntimes.labelsAnd" -}}
{{- toYaml (merge dict (index . 1) (fromYaml (include "kruntimes.labels" (index . 0)))) -}}
{{- end -}}

{{- define "kruntimes.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{- .Values.image.repository }}:{{ $tag }}{{ with .Values.image.digest }}@{{ . }}{{ end -}}
{{- end -}}
