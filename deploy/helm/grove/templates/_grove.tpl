{{- /*
The features that the configuration switches on, each "true" or empty, as 'grove manifests --config' reads them.
*/ -}}
{{- define "grove.topology" -}}
{{- if dig "topologyAwareScheduling" "enabled" false .Values.config }}true{{ end -}}
{{- end -}}

{{- define "grove.mnnvl" -}}
{{- if hasKey .Values.config "mnnvl" }}
{{- if dig "mnnvl" "enabled" false .Values.config }}true{{ end -}}
{{- else if dig "network" "autoMNNVLEnabled" false .Values.config }}true{{ end -}}
{{- end -}}

{{- define "grove.sharing" -}}
{{- if and (include "grove.mnnvl" .) (eq (dig "mnnvl" "mode" "operator" .Values.config) "annotations") }}true{{ end -}}
{{- end -}}

{{- define "grove.backend" -}}
{{- dig "scheduling" "backend" "auto" .Values.config -}}
{{- end -}}

{{- define "grove.podgangs" -}}
{{- if eq (include "grove.backend" .) "podgang" }}true{{ end -}}
{{- end -}}

{{- /*
What all programs have to agree on, as JSON; empty where no feature is on.
*/ -}}
{{- define "grove.features" -}}
{{- $backend := include "grove.backend" . }}
{{- if or (include "grove.mnnvl" .) (include "grove.topology" .) (ne $backend "auto") }}
{{- $mnnvl := dict "enabled" (eq (include "grove.mnnvl" .) "true") "mode" (dig "mnnvl" "mode" "operator" .Values.config) "computeDomainShape" (dig "mnnvl" "computeDomainShape" "auto" .Values.config) }}
{{- $topology := dict "enabled" (eq (include "grove.topology" .) "true") "levels" (dig "topologyAwareScheduling" "levels" list .Values.config) }}
{{- $found := dict "mnnvl" $mnnvl "topologyAwareScheduling" $topology }}
{{- if ne $backend "auto" }}{{ $_ := set $found "scheduling" (dict "backend" $backend) }}{{ end }}
{{- toJson $found -}}
{{- end -}}
{{- end -}}

{{- /*
The configuration file of each program, as JSON; empty where it needs none.
*/ -}}
{{- define "grove.file.operator" -}}
{{- if .Values.config }}
{{- toJson (merge (dict "apiVersion" "operator.config.grove.io/v1alpha1" "kind" "OperatorConfiguration") .Values.config) -}}
{{- end -}}
{{- end -}}

{{- define "grove.file.webhooks" -}}
{{- with include "grove.features" . }}
{{- toJson (merge (dict "apiVersion" "operator.config.grove.io/v1alpha1" "kind" "WebhookConfiguration") (fromJson .)) -}}
{{- end -}}
{{- end -}}

{{- define "grove.file.preview" -}}
{{- $features := dict }}
{{- with include "grove.features" . }}{{ $features = fromJson . }}{{ end }}
{{- toJson (merge (dict "apiVersion" "operator.config.grove.io/v1alpha1" "kind" "WebhookConfiguration" "preview" .Values.preview.settings) $features) -}}
{{- end -}}

{{- /*
Annotations of the pods of a program: the checksum of its file, whose change replaces them, and those of the values.
*/ -}}
{{- define "grove.podAnnotations" -}}
{{- $file := index . 0 }}
{{- $more := index . 1 }}
{{- $found := dict }}
{{- if $file }}{{ $found = dict "checksum/config" ($file | sha256sum) }}{{ end }}
{{- with merge $found $more }}{{ toJson . }}{{ end -}}
{{- end -}}

{{- /*
Where NetworkPolicies let pods connect to: the API server. No names are resolved, so there is no rule for DNS.
*/ -}}
{{- define "grove.egress" -}}
{{- $ports := list }}
{{- range .Values.networkPolicy.apiServerPorts }}{{ $ports = append $ports (dict "port" . "protocol" "TCP") }}{{ end }}
{{- $rule := dict "ports" $ports }}
{{- $peers := list }}
{{- range .Values.networkPolicy.apiServerCidrs }}{{ $peers = append $peers (dict "ipBlock" (dict "cidr" .)) }}{{ end }}
{{- if $peers }}{{ $_ := set $rule "to" $peers }}{{ end }}
{{- toJson (list $rule) -}}
{{- end -}}

{{- /*
Combinations that would be harmful, which are refused before anything is installed.
*/ -}}
{{- define "grove.refuse" -}}
{{- if not (hasKey .Values "config") }}
{{- fail "the values of an earlier chart lack those that this chart has: use --reset-then-reuse-values in the place of --reuse-values." }}
{{- end }}
{{- if .Values.operator.enabled }}
{{- if and (not (dig "leaderElection" "enabled" true .Values.config)) (gt (int .Values.operator.replicas) 1) }}
{{- fail (printf "operator.replicas is %d and config.leaderElection.enabled is false: all pods of the operator would act at once. Set operator.replicas=1, or leave leader election on." (int .Values.operator.replicas)) }}
{{- end }}
{{- end }}
{{- if or (dig "leaderElection" "name" "" .Values.config) (dig "leaderElection" "namespace" "" .Values.config) }}
{{- fail "config.leaderElection.name and config.leaderElection.namespace cannot be set: the role allows the Lease grove-operator-leader-election in the namespace of the release." }}
{{- end }}
{{- if and (or .Values.operator.enabled .Values.webhooks.enabled) (include "grove.topology" .) (not (dig "topologyAwareScheduling" "levels" list .Values.config)) }}
{{- fail "config.topologyAwareScheduling.enabled is true without levels: set config.topologyAwareScheduling.levels, such as [{domain: zone, key: topology.kubernetes.io/zone}]." }}
{{- end }}
{{- if not (or .Values.operator.enabled .Values.webhooks.enabled .Values.preview.enabled .Values.alerts.enabled .Values.dashboards.enabled) }}
{{- fail "nothing is enabled: set operator.enabled, webhooks.enabled or preview.enabled." }}
{{- end }}
{{- end -}}
