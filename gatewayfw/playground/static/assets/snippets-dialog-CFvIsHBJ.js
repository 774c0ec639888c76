import{C as e,F as t,V as n,b as r,d as i,t as a}from"./notice-DEm6Ls2S.js";import{i as o,t as s}from"./send-IVmJCm40.js";import{i as c,n as l,r as u,t as d}from"./literals-Qhn5rsdR.js";import{l as f,o as p}from"./index-DyZ5vE2-.js";function m(e,t,n){let r={body:s(e),headers:h(),url:t,token:n};return[{language:`curl`,label:`curl`,text:_(r)},{language:`python`,label:`Python`,text:v(r)},{language:`typescript`,label:`TypeScript`,text:y(r)}]}function h(){return[[`Content-Type`,`application/json`],...o.value.filter(({name:e,on:t})=>t&&e.trim()&&!/^(content-type|token)$/i.test(e.trim())).map(({name:e,value:t})=>[e.trim(),t.trim()])]}var g='${GATEWAY_TOKEN:+-H} ${GATEWAY_TOKEN:+"token: $GATEWAY_TOKEN"}';function _({body:e,headers:t,url:r,token:i}){let a=t.map(([e,t])=>`-H ${u(t?`${e}: ${t}`:`${e};`)}`),o=i===void 0?g:i&&`-H ${u(`token: ${i}`)}`;return[`curl -sS --globoff ${u(r)}`,...a,o,`--data-raw ${u(n(e))}`].filter(Boolean).join(` \\
  `)+`
`}function v({body:e,headers:r,url:i,token:a}){let o=r.map(([e,t])=>`    ${d(e)}: ${d(t)},\n`).join(``),s=a?`    "token": ${d(a)},\n`:``,[c,u]=t(e)?[d(n(e)),`BODY.encode()`]:[l(e),`json.dumps(BODY).encode()`],f=a===void 0?`if token := os.environ.get("GATEWAY_TOKEN"):
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
`}function y({body:e,headers:r,url:i,token:a}){let o=r.map(([e,t])=>`    ${d(e)}: ${d(t)},\n`).join(``),s=a?`    token: ${d(a)},\n`:``,l=t(e)?d(n(e)):`JSON.stringify(${c(e,`  `)})`,u=a===void 0?`    ...(process.env.GATEWAY_TOKEN ? { token: process.env.GATEWAY_TOKEN } : {}),
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
`}function b({request:t,onClose:n}){let o=m(t,e),[s,c]=r(o[0]?.language??``),l=o.find(({language:e})=>e===s);return i(f,{title:`As code`,onClose:n,wide:!0,children:i(p,{label:`Language`,items:o.map(({language:e,label:t})=>({key:e,label:t})),value:s,onChange:c,aside:l&&i(a,{text:l.text}),children:i(`div`,{class:`snippet`,tabIndex:0,role:`region`,"aria-label":`Code`,children:i(`pre`,{children:l?.text})})})})}export{b as SnippetsDialog};