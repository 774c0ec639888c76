import{H as e,I as t,d as n,t as r,w as i,x as a}from"./notice-COqNYkwn.js";import{c as o,n as s,u as c}from"./settings-JkCJ8ys_.js";import{i as l,n as u,r as d,t as f}from"./literals-DcSriVgb.js";import{c as p,d as m}from"./index-TgHhrVTr.js";function h(e,t,n){let r={body:c(e),headers:g(),url:t,token:n};return[{language:`curl`,label:`curl`,text:y(r)},{language:`httpie`,label:`HTTPie`,text:b(r)},{language:`python`,label:`Python`,text:S(r)},{language:`client`,label:`Generated client`,text:x(e,r)},{language:`typescript`,label:`TypeScript`,text:C(r)}]}function g(){return[[`Content-Type`,`application/json`],...s.value.filter(({name:e,on:t})=>t&&e.trim()&&!_(e.trim().toLowerCase())).map(({name:e,value:t})=>[e.trim(),t.trim()])]}function _(e){return e===`content-type`||o().some(t=>t.name.toLowerCase()===e)}function v(e,t){return`\${GATEWAY_TOKEN:+-H} \${GATEWAY_TOKEN:+"${e}: ${t}$GATEWAY_TOKEN"}`}function y({body:t,headers:n,url:r,token:i}){let a=n.map(([e,t])=>`-H ${d(t?`${e}: ${t}`:`${e};`)}`),s=o().map(({name:e,before:t})=>i===void 0?v(e,t):i&&`-H ${d(`${e}: ${t}${i}`)}`);return[`curl -sS --globoff ${d(r)}`,...a,...s,`--data-raw ${d(e(t))}`].filter(Boolean).join(` \\
  `)+`
`}function b({body:t,headers:n,url:r,token:i}){let a=e=>e.replace(/[\\:=@;]/g,`\\$&`),s=n.map(([e,t])=>d(t?`${a(e)}:${t}`:`${a(e)};`)),c=o().map(({name:e,before:t})=>i===void 0?`\${GATEWAY_TOKEN:+"${e}:${t}$GATEWAY_TOKEN"}`:i&&d(`${a(e)}:${t}${i}`));return[`http --ignore-stdin POST ${d(r)}`,...s,...c,`--raw ${d(e(t))}`].filter(Boolean).join(` \\
  `)+`
`}function x({service:n,model:r,act:i,set:a,get:s},{headers:c,url:l,token:d}){let p=d===void 0?`os.environ.get("GATEWAY_TOKEN")`:d?f(d):`None`,m=o()[0]?.name??`token`,h=Object.fromEntries(c.filter(([e])=>e!==`Content-Type`)),g=[...Object.keys(h).length?[`headers=${u(h)}`]:[],...m===`token`?[]:[`token_header=${f(m)}`]],_=n=>t(n)?`json.loads(${f(e(n))})`:u(n,`    `),v=n===`main`?``:`\n    service=${f(n)},`,y=[t({set:a,get:s})&&`import json
`,d===void 0&&`import os
`].filter(Boolean).join(``);return`${y&&`${y}\n`}from gateway_types import Client  # of the downloads

client = Client(${[f(l),p,...g].join(`, `)})
reply = client.call(
    ${f(r)},
    ${f(i)},${v}
    set=${_(a)},
    get=${_(s)},
)
print(reply)
`}function S({body:n,headers:r,url:i,token:a}){let s=r.map(([e,t])=>`    ${f(e)}: ${f(t)},\n`).join(``),c=o().map(({name:e,before:t})=>a&&`    ${f(e)}: ${f(t+a)},\n`),[l,d]=t(n)?[f(e(n)),`BODY.encode()`]:[u(n),`json.dumps(BODY).encode()`],p=o().map(({name:e,before:t})=>`    HEADERS[${f(e)}] = ${t?`f"${t}{token}"`:`token`}\n`),m=a===void 0?`if token := os.environ.get("GATEWAY_TOKEN"):\n${p.join(``)}`:``;return`import json
${m&&`import os
`}import urllib.error
import urllib.request

URL = ${f(i)}
HEADERS = {
${s}${c.filter(Boolean).join(``)}}
BODY = ${l}

${m}request = urllib.request.Request(URL, ${d}, HEADERS)
try:
    with urllib.request.urlopen(request, timeout=30) as reply:
        envelope = json.load(reply)
except urllib.error.HTTPError as refused:
    envelope = json.load(refused)
print(json.dumps(envelope, indent=2))
`}function C({body:n,headers:r,url:i,token:a}){let s=r.map(([e,t])=>`    ${f(e)}: ${f(t)},\n`).join(``),c=o().map(({name:e,before:t})=>a&&`    ${w(e)}: ${f(t+a)},\n`),u=t(n)?f(e(n)):`JSON.stringify(${l(n,`  `)})`,d=o().map(({name:e,before:t})=>{let n=`process.env.GATEWAY_TOKEN`;return`${w(e)}: ${t?`\`${t}\${${n}}\``:n}`}),p=a===void 0?`    ...(process.env.GATEWAY_TOKEN ? { ${d.join(`, `)} } : {}),\n`:``;return`type Envelope = { success: true; body: unknown } | { success: false; body: { message: string } };

const reply = await fetch(${f(i)}, {
  method: "POST",
  headers: {
${s}${c.filter(Boolean).join(``)}${p}  },
  body: ${u},
});
const envelope = (await reply.json()) as Envelope;
console.log(JSON.stringify(envelope, null, 2));
export {};
`}function w(e){return/^[A-Za-z_]\w*$/.test(e)?e:f(e)}function T({request:e,onClose:t}){return n(m,{title:`As code`,onClose:t,wide:!0,children:n(E,{request:e})})}function E({request:e}){let t=h(e,i),[o,s]=a(t[0]?.language??``),c=t.find(({language:e})=>e===o);return n(p,{label:`Language`,items:t.map(({language:e,label:t})=>({key:e,label:t})),value:o,onChange:s,aside:c&&n(r,{text:c.text}),children:n(`div`,{class:`snippet`,tabIndex:0,role:`region`,"aria-label":`Code`,children:n(`pre`,{children:c?.text})})})}export{E as Snippets,T as SnippetsDialog};