{{- /* The label matchers of the series of this release. */ -}}
{{- define "kruntimes.matchers" -}}
{{- $service := printf "job=%q,namespace=%q" (include "kruntimes.fullname" .) .Release.Namespace -}}
{{- .Values.prometheusRule.matchers | default $service -}}
{{- end -}}

{{- /* Every alert; its runbook is the page of docs/runbooks with its name. An API server may be away for a minute, and a handover or a
     rollout takes about as long: what heals by then is no alert. */ -}}
{{- define "kruntimes.alerts" -}}
{{- $s := include "kruntimes.matchers" . -}}
{{- $scope := ternary "" $s (and (empty .Values.namespaces) (empty .Values.prometheusRule.matchers)) -}}
{{- $oldest := .Values.prometheusRule.oldestWaitingSeconds -}}
- alert: KruntimesSchedulerNobodyDecides
  expr: max by (job, namespace) (kruntimes_scheduler_deciding{ {{- $s -}} }) == 0 or absent(kruntimes_scheduler_deciding{ {{- $s -}} })
  for: 2m
  labels: {severity: critical}
  annotations:
    summary: No replica of the scheduler decides.
    description: No Run has been placed for 2 minutes, because no replica decides or none is scraped.
- alert: KruntimesSchedulerTwoDecide
  # Also of other releases, where this one decides in all namespaces. A dry run, which has the second metric, writes nothing.
  expr: sum(kruntimes_scheduler_deciding{ {{- $scope -}} } unless on (instance, job, namespace) kruntimes_scheduler_dry_run_held) > 1
  for: 2m
  labels: {severity: critical}
  annotations:
    summary: '{{ "{{ $value }}" }} schedulers decide at the same time.'
    description: Both place Runs, and neither knows what the other one is about to place, so Runtime Pods may get more than they have room for.
- alert: KruntimesSchedulerRunsWaitTooLong
  expr: max by (job, namespace, tier) (kruntimes_scheduler_oldest_waiting_seconds{tier="now", {{- $s -}} }) > {{ int $oldest.now }}
  for: 5m
  labels: {severity: warning}
  annotations:
    summary: A Run has waited for {{ "{{ $value | humanizeDuration }}" }} for something that can change.
    description: Runtime Pods could take the Run when they have room, or when what it asks for changes. The runbook shows what the Runs wait for.
- alert: KruntimesSchedulerRunsWaitTooLong
  expr: max by (job, namespace, tier) (kruntimes_scheduler_oldest_waiting_seconds{tier="error", {{- $s -}} }) > {{ int $oldest.error }}
  labels: {severity: critical}
  annotations:
    summary: A Run has waited for {{ "{{ $value | humanizeDuration }}" }} because a plugin fails.
    description: Runs of this kind are not placed before the plugin works again. The runbook shows which plugin fails.
- alert: KruntimesSchedulerRunsNeverFit
  expr: max by (job, namespace, tier) (kruntimes_scheduler_oldest_waiting_seconds{tier="never", {{- $s -}} }) > {{ int $oldest.never }}
  for: 5m
  labels: {severity: warning}
  annotations:
    summary: A Run has waited for {{ "{{ $value | humanizeDuration }}" }}, and fits no Runtime Pod even when all others end.
    description: Waiting does not help these Runs. They need smaller requests, or larger Runtime Pods.
- alert: KruntimesSchedulerHeartbeatsStale
  expr: sum by (job, namespace) (kruntimes_scheduler_waiting_runs{reason="HeartbeatStale", {{- $s -}} }) > 0
  for: 2m
  labels: {severity: critical}
  annotations:
    summary: '{{ "{{ $value }}" }} Runs wait because their Runtime Pods send no heartbeat.'
    description: The Runtime Pods are there, but no runtimed in them has reported for longer than heartbeatStalenessSeconds.
- alert: KruntimesSchedulerPluginErrors
  expr: sum by (job, namespace, plugin, hook) (increase(kruntimes_scheduler_plugin_errors_total{ {{- $s -}} }[10m])) > 0
  labels: {severity: warning}
  annotations:
    summary: The plugin {{ "{{ $labels.plugin }}" }} fails in its hook {{ "{{ $labels.hook }}" }}.
    description: A Run for which a plugin fails is not placed; it is tried again after a backoff.
- alert: KruntimesSchedulerPluginStuck
  expr: max by (job, namespace, plugin) (kruntimes_scheduler_plugin_stuck_calls{ {{- $s -}} }) > 0
  for: 1m
  labels: {severity: critical}
  annotations:
    summary: A call of the plugin {{ "{{ $labels.plugin }}" }} does not return.
    description: No plugin of its profile is called before the call returns, so none of the profile's Runs is placed.
- alert: KruntimesSchedulerWritesInDoubt
  expr: max by (job, namespace) (kruntimes_scheduler_writes_outcome_unknown{ {{- $s -}} }) > 0
  for: 5m
  labels: {severity: warning}
  annotations:
    summary: For 5 minutes the scheduler has not known whether {{ "{{ $value }}" }} of its writes were applied.
    description: The Runs of these writes wait, and the room that they may have taken is held for them.
- alert: KruntimesSchedulerConflicts
  # More than one of ten placements, and not a single one by chance.
  expr: |-
    sum by (job, namespace) (increase(kruntimes_scheduler_reservation_conflicts_total{ {{- $s -}} }[15m])) > 10
    and
    sum by (job, namespace) (increase(kruntimes_scheduler_reservation_conflicts_total{ {{- $s -}} }[15m]))
    > 0.1 * sum by (job, namespace) (increase(kruntimes_scheduler_sync_total{result="scheduled", {{- $s -}} }[15m]))
  for: 5m
  labels: {severity: warning}
  annotations:
    summary: '{{ "{{ $value | humanize }}" }} placements in 15 minutes met a Run or a Pod that had changed.'
    description: Something else writes Runs, or fills Runtime Pods, while the scheduler places Runs there.
- alert: KruntimesSchedulerApiErrors
  expr: |-
    sum by (job, namespace) (rate(kruntimes_scheduler_requests_total{outcome="OutcomeUnknown", {{- $s -}} }[5m]))
    > 0.05 * sum by (job, namespace) (rate(kruntimes_scheduler_requests_total{ {{- $s -}} }[5m]))
  for: 5m
  labels: {severity: warning}
  annotations:
    summary: More than 5 % of the scheduler's requests get no answer from the API server, or one that says it failed.
    description: Timeouts, broken connections and answers 5xx. The scheduler tries each of them again.
- alert: KruntimesSchedulerWatchStopped
  expr: min by (job, namespace, resource) (kruntimes_scheduler_watch_following{ {{- $s -}} }) == 0
  for: 5m
  labels: {severity: critical}
  annotations:
    summary: The scheduler cannot list and watch {{ "{{ $labels.resource }}" }}.
    description: It decides nothing while it does not know what is in the cluster.
- alert: KruntimesSchedulerMissingPermissions
  expr: max by (job, namespace, verb, resource) (kruntimes_scheduler_missing_permissions{ {{- $s -}} }) > 0
  for: 5m
  labels: {severity: warning}
  annotations:
    summary: The API server refuses the scheduler the right to {{ "{{ $labels.verb }} {{ $labels.resource }}" }}.
    description: What happens without it depends on the right; the runbook says so.
- alert: KruntimesSchedulerRestarts
  expr: changes(process_start_time_seconds{ {{- $s -}} }[1h]) > 2
  labels: {severity: warning}
  annotations:
    summary: A replica of the scheduler started {{ "{{ $value }}" }} times more in an hour.
    description: A replica that ends again and again neither decides nor stands by.
{{- end -}}
