import{t as e,u as t,v as n,x as r}from"./notice-K1pliK6A.js";import{i,t as a}from"./send-BLypUel3.js";import{i as o,n as s,r as c,t as l}from"./literals-Dr47954S.js";import{l as u,o as d}from"./index-X6UIfx-7.js";function f(e,t,n){let r={body:a(e),headers:p(),url:t,token:n};return[{language:`curl`,label:`curl`,text:h(r)},{language:`python`,label:`Python`,text:g(r)},{language:`typescript`,label:`TypeScript`,text:_(r)}]}function p(){return[[`Content-Type`,`application/json`],...i.value.filter(({name:e,on:t})=>t&&e.trim()&&!/^(content-type|token)$/i.test(e.trim())).map(({name:e,value:t})=>[e.trim(),t.trim()])]}var m='${GATEWAY_TOKEN:+-H} ${GATEWAY_TOKEN:+"token: $GATEWAY_TOKEN"}';function h({body:e,headers:t,url:n,token:r}){let i=t.map(([e,t])=>`-H ${c(t?`${e}: ${t}`:`${e};`)}`),a=r===void 0?m:r&&`-H ${c(`token: ${r}`)}`;return[`curl -sS --globoff ${c(n)}`,...i,a,`--data-raw ${c(JSON.stringify(e))}`].filter(Boolean).join(` \\
  `)+`
`}function g({body:e,headers:t,url:n,token:r}){let i=t.map(([e,t])=>`    ${l(e)}: ${l(t)},\n`).join(``),a=r?`    "token": ${l(r)},\n`:``,o=r===void 0?`if token := os.environ.get("GATEWAY_TOKEN"):
    HEADERS["token"] = token
`:``;return`import json
${o&&`import os
`}import urllib.error
import urllib.request

URL = ${l(n)}
HEADERS = {
${i}${a}}
BODY = ${s(e)}

${o}request = urllib.request.Request(URL, json.dumps(BODY).encode(), HEADERS)
try:
    with urllib.request.urlopen(request, timeout=30) as reply:
        envelope = json.load(reply)
except urllib.error.HTTPError as refused:
    envelope = json.load(refused)
print(json.dumps(envelope, indent=2))
`}function _({body:e,headers:t,url:n,token:r}){let i=t.map(([e,t])=>`    ${l(e)}: ${l(t)},\n`).join(``),a=r?`    token: ${l(r)},\n`:``,s=r===void 0?`    ...(process.env.GATEWAY_TOKEN ? { token: process.env.GATEWAY_TOKEN } : {}),
`:``;return`type Envelope = { success: true; body: unknown } | { success: false; body: { message: string } };

const reply = await fetch(${l(n)}, {
  method: "POST",
  headers: {
${i}${a}${s}  },
  body: JSON.stringify(${o(e,`  `)}),
});
const envelope = (await reply.json()) as Envelope;
console.log(JSON.stringify(envelope, null, 2));
export {};
`}function v({request:i,onClose:a}){let o=f(i,r),[s,c]=n(o[0]?.language??``),l=o.find(({language:e})=>e===s);return t(u,{title:`As code`,onClose:a,wide:!0,children:t(d,{label:`Language`,items:o.map(({language:e,label:t})=>({key:e,label:t})),value:s,onChange:c,aside:l&&t(e,{text:l.text}),children:t(`div`,{class:`snippet`,tabIndex:0,role:`region`,"aria-label":`Code`,children:t(`pre`,{children:l?.text})})})})}export{v as SnippetsDialog};