import{H as e,I as t,d as n,t as r,w as i,x as a}from"./notice-DpBqnUrZ.js";import{i as o,t as s}from"./send-CYrY9wCV.js";import{i as c,n as l,r as u,t as d}from"./literals-Bh7ho0Ja.js";import{l as f,o as p}from"./index-DIcFgoEI.js";function m(e,t,n){let r={body:s(e),headers:h(),url:t,token:n};return[{language:`curl`,label:`curl`,text:_(r)},{language:`python`,label:`Python`,text:v(r)},{language:`typescript`,label:`TypeScript`,text:y(r)}]}function h(){return[[`Content-Type`,`application/json`],...o.value.filter(({name:e,on:t})=>t&&e.trim()&&!/^(content-type|token)$/i.test(e.trim())).map(({name:e,value:t})=>[e.trim(),t.trim()])]}var g='${GATEWAY_TOKEN:+-H} ${GATEWAY_TOKEN:+"token: $GATEWAY_TOKEN"}';function _({body:t,headers:n,url:r,token:i}){let a=n.map(([e,t])=>`-H ${u(t?`${e}: ${t}`:`${e};`)}`),o=i===void 0?g:i&&`-H ${u(`token: ${i}`)}`;return[`curl -sS --globoff ${u(r)}`,...a,o,`--data-raw ${u(e(t))}`].filter(Boolean).join(` \\
  `)+`
`}function v({body:n,headers:r,url:i,token:a}){let o=r.map(([e,t])=>`    ${d(e)}: ${d(t)},\n`).join(``),s=a?`    "token": ${d(a)},\n`:``,[c,u]=t(n)?[d(e(n)),`BODY.encode()`]:[l(n),`json.dumps(BODY).encode()`],f=a===void 0?`if token := os.environ.get("GATEWAY_TOKEN"):
    HEADERS["token"] = token
`:``;return`import json
${f&&`import os
`}import urllib.error
import urllib.request

URL = ${d(i)}
HEADERS = {
${o}${s}}
BODY = ${c}

${f}request = urllib.request.Request(URL, ${u}, HEADERS)
try:
    with urllib.request.urlopen(request, timeout=30) as reply:
        envelope = json.load(reply)
except urllib.error.HTTPError as refused:
    envelope = json.load(refused)
print(json.dumps(envelope, indent=2))
`}function y({body:n,headers:r,url:i,token:a}){let o=r.map(([e,t])=>`    ${d(e)}: ${d(t)},\n`).join(``),s=a?`    token: ${d(a)},\n`:``,l=t(n)?d(e(n)):`JSON.stringify(${c(n,`  `)})`,u=a===void 0?`    ...(process.env.GATEWAY_TOKEN ? { token: process.env.GATEWAY_TOKEN } : {}),
`:``;return`type Envelope = { success: true; body: unknown } | { success: false; body: { message: string } };

const reply = await fetch(${d(i)}, {
  method: "POST",
  headers: {
${o}${s}${u}  },
  body: ${l},
});
const envelope = (await reply.json()) as Envelope;
console.log(JSON.stringify(envelope, null, 2));
export {};
`}function b({request:e,onClose:t}){let o=m(e,i),[s,c]=a(o[0]?.language??``),l=o.find(({language:e})=>e===s);return n(f,{title:`As code`,onClose:t,wide:!0,children:n(p,{label:`Language`,items:o.map(({language:e,label:t})=>({key:e,label:t})),value:s,onChange:c,aside:l&&n(r,{text:l.text}),children:n(`div`,{class:`snippet`,tabIndex:0,role:`region`,"aria-label":`Code`,children:n(`pre`,{children:l?.text})})})})}export{b as SnippetsDialog};