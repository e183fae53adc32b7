import test from 'ava'
import { complainOfCluster } from '#hub/cluster/env.ts'

const alone = { SERVICE_MULTI_TENANT: false, SERVICE_CLUSTER_HOME: false }
const one = { ...alone, SERVICE_CLUSTER_URL: 'postgres://a@b/c', SERVICE_CLUSTER_DIR: '/var/lib/plenum' }

test('a hub alone and one of several are accepted', t => {
  t.deepEqual(complainOfCluster(alone), [])
  t.deepEqual(complainOfCluster({ ...one, SERVICE_CLUSTER_HOME: true, SERVICE_CLUSTER_ADDRESS: 'https://a' }), [])
})

test('each setting of a cluster is named that has no use, or is missing', t => {
  const { SERVICE_CLUSTER_URL, ...useless } = { ...one, SERVICE_CLUSTER_HOME: true, SERVICE_CLUSTER_ADDRESS: 'https://a' }
  t.deepEqual(complainOfCluster(useless), [
    'SERVICE_CLUSTER_DIR: is used only with SERVICE_CLUSTER_URL',
    'SERVICE_CLUSTER_ADDRESS: is used only with SERVICE_CLUSTER_URL',
    'SERVICE_CLUSTER_HOME: is used only with SERVICE_CLUSTER_URL',
  ])
  t.deepEqual(complainOfCluster({ ...alone, SERVICE_CLUSTER_URL, SERVICE_MULTI_TENANT: true }), [
    'SERVICE_CLUSTER_DIR: SERVICE_CLUSTER_URL needs it',
    'SERVICE_CLUSTER_URL: not with SERVICE_MULTI_TENANT, whose databases are not in PostgreSQL',
  ])
})
