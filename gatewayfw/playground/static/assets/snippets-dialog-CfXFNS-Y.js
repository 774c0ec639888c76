import{N as e,t,u as n,v as r,x as i,z as a}from"./notice-fJpSdCS8.js";import{i as o,t as s}from"./send-BbXKZKGe.js";import{i as c,n as l,r as u,t as d}from"./literals-BrR08e_A.js";import{l as f,o as p}from"./index-bKB3hF54.js";function m(e,t,n){let r={body:s(e),headers:h(),url:t,token:n};return[{language:`curl`,label:`curl`,text:_(r)},{language:`python`,label:`Python`,text:v(r)},{language:`typescript`,label:`TypeScript`,text:y(r)}]}function h(){return[[`Content-Type`,`application/json`],...o.value.filter(({name:e,on:t})=>t&&e.trim()&&!/^(content-type|token)$/i.test(e.trim())).map(({name:e,value:t})=>[e.trim(),t.trim()])]}var g='${GATEWAY_TOKEN:+-H} ${GATEWAY_TOKEN:+"token: $GATEWAY_TOKEN"}';function _({body:e,headers:t,url:n,token:r}){let i=t.map(([e,t])=>`-H ${u(t?`${e}: ${t}`:`${e};`)}`),o=r===void 0?g:r&&`-H ${u(`token: ${r}`)}`;return[`curl -sS --globoff ${u(n)}`,...i,o,`--data-raw ${u(a(e))}`].filter(Boolean).join(` \\
  `)+`
`}function v({body:t,headers:n,url:r,token:i}){let o=n.map(([e,t])=>`    ${d(e)}: ${d(t)},\n`).join(``),s=i?`    "token": ${d(i)},\n`:``,[c,u]=e(t)?[d(a(t)),`BODY.encode()`]:[l(t),`json.dumps(BODY).encode()`],f=i===void 0?`if token := os.environ.get("GATEWAY_TOKEN"):
    HEADERS["token"] = token
`:``;return`import json
${f&&`import os
`}import urllib.error
import urllib.request

URL = ${d(r)}
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
`}function y({body:t,headers:n,url:r,token:i}){let o=n.map(([e,t])=>`    ${d(e)}: ${d(t)},\n`).join(``),s=i?`    token: ${d(i)},\n`:``,l=e(t)?d(a(t)):`JSON.stringify(${c(t,`  `)})`,u=i===void 0?`    ...(process.env.GATEWAY_TOKEN ? { token: process.env.GATEWAY_TOKEN } : {}),
`:``;return`type Envelope = { success: true; body: unknown } | { success: false; body: { message: string } };

const reply = await fetch(${d(r)}, {
  method: "POST",
  headers: {
${o}${s}${u}  },
  body: ${l},
});
const envelope = (await reply.json()) as Envelope;
console.log(JSON.stringify(envelope, null, 2));
export {};
`}function b({request:e,onClose:a}){let o=m(e,i),[s,c]=r(o[0]?.language??``),l=o.find(({language:e})=>e===s);return n(f,{title:`As code`,onClose:a,wide:!0,children:n(p,{label:`Language`,items:o.map(({language:e,label:t})=>({key:e,label:t})),value:s,onChange:c,aside:l&&n(t,{text:l.text}),children:n(`div`,{class:`snippet`,tabIndex:0,role:`region`,"aria-label":`Code`,children:n(`pre`,{children:l?.text})})})})}export{b as SnippetsDialog};