// A consumer of kafkajs that does what it is asked, one JSON object a line, on its standard input.
const { Kafka } = require('kafkajs')
const readline = require('readline')

let consumer

async function join({ config, topics }) {
  const kafka = new Kafka({ clientId: config['client.id'], brokers: config['bootstrap.servers'].split(',') })
  consumer = kafka.consumer({
    groupId: config['group.id'],
    sessionTimeout: Number(config['session.timeout.ms']),
    heartbeatInterval: Number(config['heartbeat.interval.ms']),
    rebalanceTimeout: 9000
  })
  await consumer.connect()
  await consumer.subscribe({ topics, fromBeginning: true })
  await consumer.run({ eachMessage: async () => {} })
}

async function leave() {
  if (consumer) await consumer.disconnect()
  process.exit(0)
}

const orders = readline.createInterface({ input: process.stdin })
orders.on('line', line => {
  const order = JSON.parse(line)
  if (order.do === 'join') join(order).catch(error => { console.error(error); process.exit(1) })
  else if (order.do === 'leave') leave()
  else console.error(`This member cannot do ${line}.`)
})
orders.on('close', leave)
