import{S as e,T as t,c as n,f as r,t as i}from"./notice-DSRxhT7S.js";import{b as a,m as o,t as s}from"./catalog-CHuwTfZI.js";import{N as c,Ot as l,Wt as u,at as d,dt as f,k as p}from"./tabs-BlQqWSDI.js";import{i as m,n as h,r as g,t as _}from"./literals-CFDrzmo6.js";import"./state-CFQhekkz.js";import{c as v}from"./ui-LdcQ43eN.js";function y(e,t,{token:n,key:r=``,files:i=[]}={}){let a={body:u(e),headers:b(r,i.length>0),url:t,token:n,files:i};return[{language:`curl`,label:`curl`,text:C(a)},{language:`httpie`,label:`HTTPie`,text:T(a)},{language:`python`,label:`Python`,text:O(a)},{language:`client`,label:`Generated client`,text:E(e,a)},{language:`typescript`,label:`TypeScript`,text:k(a)}]}function b(e,t){let n=d.value.filter(({name:e,on:t})=>t&&e.trim()&&!x(e.trim().toLowerCase())).map(({name:e,value:t})=>[e.trim(),t.trim()]);return[t?[`X-Gateway`,`1`]:[`Content-Type`,`application/json`],...e?[[`Idempotency-Key`,e]]:[],...n]}function x(e){return[`content-type`,`idempotency-key`].includes(e)||f().some(t=>t.name.toLowerCase()===e)}function S(e,t){return`\${GATEWAY_TOKEN:+-H} \${GATEWAY_TOKEN:+"${e}: ${t}$GATEWAY_TOKEN"}`}function C({body:e,headers:t,url:n,token:r,files:i}){let o=t.map(([e,t])=>`-H ${g(t?`${e}: ${t}`:`${e};`)}`),s=f().map(({name:e,before:t})=>r===void 0?S(e,t):r&&`-H ${g(`${e}: ${t}${r}`)}`);return[`curl -sS --globoff ${g(n)}`,...o,...s,...i.length?[`--form-string ${g(`${w}=${a(e)}`)}`]:[`--data-raw ${g(a(e))}`],...i.map(({path:e,name:t})=>`-F ${g(`${e}=@"${t.replace(/[\\"]/g,`\\$&`)}"`)}`)].filter(Boolean).join(` \\
  `)+`
`}var w=`gateway-body`;function T({body:e,headers:t,url:n,token:r,files:i}){let o=e=>e.replace(/[\\:=@;]/g,`\\$&`),s=t.map(([e,t])=>g(t?`${o(e)}:${t}`:`${o(e)};`)),c=f().map(({name:e,before:t})=>r===void 0?`\${GATEWAY_TOKEN:+"${e}:${t}$GATEWAY_TOKEN"}`:r&&g(`${o(e)}:${t}${r}`)),l=i.map(({path:e,name:t})=>g(`${o(e)}@${t}`)),u=i.length?[g(`${w}=${a(e)}`),...l]:[`--raw ${g(a(e))}`];return[`http --ignore-stdin ${i.length?`--multipart `:``}POST ${g(n)}`,...s,...c,...u].filter(Boolean).join(` \\
  `)+`
`}function E({service:e,model:t,act:n,set:r,get:i},{headers:s,url:c,token:l,files:u}){let d=l===void 0?`os.environ.get("GATEWAY_TOKEN")`:l?_(l):`None`,p=f()[0]?.name??`token`,m=Object.fromEntries(s.filter(([e])=>e!==`Content-Type`&&e!==`X-Gateway`)),g=[...Object.keys(m).length?[`headers=${h(m)}`]:[],...p===`token`?[]:[`token_header=${_(p)}`]],v=e=>o(e)?`json.loads(${_(a(e))})`:h(e,`    `),y=e===`main`?``:`\n    service=${_(e)},`,b=[o({set:r,get:i})&&`import json
`,l===void 0&&`import os
`,u.length>0&&`from pathlib import Path
`].filter(Boolean).join(``),x=u.map(({path:e,name:t})=>`given${e.split(`.`).slice(1).map(D).join(``)} = Path(${_(t)})\n`),S=u.length?`given = ${o(r)?v(r):h(r)}\n${x.join(``)}`:``;return`${b&&`${b}\n`}from gateway_types import Client  # of the downloads

client = Client(${[_(c),d,...g].join(`, `)})
${S}reply = client.call(
    ${_(t)},
    ${_(n)},${y}
    set=${S?`given`:v(r)},
    get=${v(i)},
)
print(reply)
`}function D(e){return`[${/^\d+$/.test(e)?e:_(e)}]`}function O({body:e,headers:t,url:n,token:r,files:i}){let s=t.map(([e,t])=>`    ${_(e)}: ${_(t)},\n`).join(``),c=f().map(({name:e,before:t})=>r&&`    ${_(e)}: ${_(t+r)},\n`),[l,u]=o(e)?[_(a(e)),`BODY.encode()`]:[h(e),`json.dumps(BODY).encode()`],d=i.length?`form()`:u,p=`FILES = {
${i.map(({path:e,name:t})=>`    ${_(e)}: ${_(t)},\n`).join(``)}}
BOUNDARY = secrets.token_hex(16)
HEADERS["Content-Type"] = f"multipart/form-data; boundary={BOUNDARY}"


def form():
    parts = [("${w}", "", ${u})]
    for path, name in FILES.items():
        with open(name, "rb") as file:
            quoted = name.replace('"', "%22")
            parts.append((path, f'; filename="{quoted}"', file.read()))
    lines = []
    for name, more, content in parts:
        head = f'--{BOUNDARY}\\r\\nContent-Disposition: form-data; name="{name}"{more}\\r\\n\\r\\n'
        lines += [head.encode(), content, b"\\r\\n"]
    return b"".join([*lines, f"--{BOUNDARY}--\\r\\n".encode()])


`,m=f().map(({name:e,before:t})=>`    HEADERS[${_(e)}] = ${t?`f"${t}{token}"`:`token`}\n`),g=r===void 0?`if token := os.environ.get("GATEWAY_TOKEN"):\n${m.join(``)}`:``;return`import json
${g&&`import os
`}${i.length?`import secrets
`:``}import urllib.error
import urllib.request

URL = ${_(n)}
HEADERS = {
${s}${c.filter(Boolean).join(``)}}
BODY = ${l}
${i.length?p:`
`}${g}request = urllib.request.Request(URL, ${d}, HEADERS)
try:
    with urllib.request.urlopen(request, timeout=30) as reply:
        envelope = json.load(reply)
except urllib.error.HTTPError as refused:
    envelope = json.load(refused)
print(json.dumps(envelope, indent=2))
`}function k({body:e,headers:t,url:n,token:r,files:i}){let s=t.map(([e,t])=>`    ${_(e)}: ${_(t)},\n`).join(``),c=f().map(({name:e,before:t})=>r&&`    ${A(e)}: ${_(t+r)},\n`),l=o(e)?_(a(e)):`JSON.stringify(${m(e,`  `)})`,u=f().map(({name:e,before:t})=>{let n=`process.env.GATEWAY_TOKEN`;return`${A(e)}: ${t?`\`${t}\${${n}}\``:n}`}),d=r===void 0?`    ...(process.env.GATEWAY_TOKEN ? { ${u.join(`, `)} } : {}),\n`:``,p=`const form = new FormData();
form.append("${w}", ${l});
${i.map(({path:e,name:t})=>`form.append(${_(e)}, await openAsBlob(${_(t)}), ${_(t)});\n`).join(``)}
`;return`${i.length?`import { openAsBlob } from "node:fs";

`:``}type Envelope = { success: true; body: unknown } | { success: false; body: { message: string } };

${i.length?p:``}const reply = await fetch(${_(n)}, {
  method: "POST",
  headers: {
${s}${c.filter(Boolean).join(``)}${d}  },
  body: ${i.length?`form`:l},
});
const envelope = (await reply.json()) as Envelope;
console.log(JSON.stringify(envelope, null, 2));
export {};
`}function A(e){return/^[A-Za-z_]\w*$/.test(e)?e:_(e)}function j({tab:a}){let o=[...a.files.value].map(([e,{name:t}])=>({path:e,name:t})),c=y(M(a.request.value),p()||s,{key:a.key.value.trim(),files:o}),[l,u]=e(c[0]?.language??``),d=c.find(({language:e})=>e===l);return r(v,{label:`Language`,items:c.map(({language:e,label:t})=>({key:e,label:t})),value:l,onChange:u,aside:r(t,{children:[d&&r(i,{text:d.text}),r(n,{small:!0,icon:`close`,label:`Close the code`,onClick:()=>void(a.shown.value=`tree`)})]}),children:r(`div`,{class:`snippet`,tabIndex:0,role:`region`,"aria-label":`Code`,children:r(`pre`,{children:d?.text})})})}function M(e){try{return c(e)}catch(t){if(!(t instanceof l))throw t;return e}}export{j as Snippets};