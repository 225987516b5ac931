{{- define "prose.labels" -}}
app.kubernetes.io/name: prose
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "prose.secret" -}}
{{ .Values.database.secret.name | default (printf "%s-database" .Release.Name) }}
{{- end }}

{{- define "prose.url" -}}
{{- if .Values.postgresql.enabled -}}
postgresql://prose@{{ .Release.Name }}-database:5432/prose
{{- else -}}
{{ required "database.url is the address of a PostgreSQL server; postgresql.enabled=true makes one" .Values.database.url }}
{{- end -}}
{{- end }}
