/** Writes the container file of a component, for an engine that builds images itself. */
import { type ComponentName, COMPONENTS } from '../recipes/components.ts'
import { containerConfig, HEALTH, labelsOf } from './container-config.ts'

/** @returns the text of `<component>.containerfile` */
export function containerFile(component: ComponentName): string {
  const { about } = COMPONENTS[component]
  const { user, workingDir, entrypoint, env, port, healthCheck } = containerConfig(component)
  const { interval, timeout, startPeriod, retries } = HEALTH
  const labels = Object.entries(labelsOf(component, '$VERSION')).map(([name, value]) => `LABEL ${name}="${value}"`)
  return `# ${component}: ${about}.
# docker build -f image/containers/${component}.containerfile --build-arg VERSION=$(node scripts/version.ts) .
# Written by scripts/recipes.ts from image/recipes/components.ts; change it there.
FROM --platform=$BUILDPLATFORM debian:13-slim AS build
ARG TARGETARCH
RUN apt-get update && apt-get install -y --no-install-recommends binutils ca-certificates git mmdebstrap nodejs npm
WORKDIR /src
COPY . .
# Debian's libraries, Node, and the files and packages that this component reaches: scripts/closure.ts lists them.
RUN scripts/setup.sh && node_modules/.bin/node scripts/image.ts root ${component} --arch $TARGETARCH --out /image

FROM scratch
ARG VERSION
COPY --from=build /image/ /
${labels.join('\n')}
${Object.entries(env)
  .map(([name, value]) => `ENV ${name}=${value}`)
  .join('\n')}
USER ${user}
WORKDIR ${workingDir}
EXPOSE ${port}
HEALTHCHECK --interval=${interval}s --timeout=${timeout}s --start-period=${startPeriod}s --retries=${retries} CMD ${JSON.stringify(healthCheck)}
STOPSIGNAL SIGTERM
ENTRYPOINT ${JSON.stringify(entrypoint)}
`
}
