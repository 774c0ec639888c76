import{S as e,l as t,t as n}from"./notice-C9VfQEGw.js";import{C as r,g as i,t as a}from"./catalog-Hi7ni7_7.js";import{t as o}from"./code-yCd-GVmG.js";import{A as s,Nt as c,P as l,Zt as u,gt as d,ht as f,ut as p}from"./tabs-C5FTTdGZ.js";import{i as m,n as h,r as g,t as _}from"./literals-DGl1B8c0.js";import"./state-DFkAYBsF.js";import{c as v}from"./ui-BsxRfvlU.js";import{n as y,t as b}from"./jsxRuntime-avN8QTAV.js";function x(e,t,{token:n,key:r=``,files:i=[]}={}){let a={body:u(e),headers:S(r,i.length>0),url:t,token:n,files:i};return[{language:`curl`,label:`curl`,text:T(a),syntax:`shell`},{language:`httpie`,label:`HTTPie`,text:D(a),syntax:`shell`},{language:`python`,label:`Python`,text:A(a),syntax:`python`},{language:`client`,label:`Generated client`,text:O(e,a),syntax:`python`},{language:`typescript`,label:`TypeScript`,text:j(a),syntax:`typescript`}]}function S(e,t){let n=p.value.filter(({name:e,on:t})=>t&&e.trim()&&!C(e.trim().toLowerCase())).map(({name:e,value:t})=>[e.trim(),t.trim()]);return[t?[`X-Gateway`,`1`]:[`Content-Type`,`application/json`],...e?[[`Idempotency-Key`,e]]:[],...n]}function C(e){return[`content-type`,`idempotency-key`].includes(e)||d().some(t=>t.name.toLowerCase()===e)}function w(e,t){return`\${GATEWAY_TOKEN:+-H} \${GATEWAY_TOKEN:+"${e}: ${t}$GATEWAY_TOKEN"}`}function T({body:e,headers:t,url:n,token:i,files:a}){let o=t.map(([e,t])=>`-H ${g(t?`${e}: ${t}`:`${e};`)}`),s=d().map(({name:e,before:t})=>i===void 0?w(e,t):i&&`-H ${g(`${e}: ${t}${i}`)}`);return[`curl -sS --globoff ${g(n)}`,...o,...s,...a.length?[`--form-string ${g(`${E}=${r(e,2)}`)}`]:[`--data-raw ${g(r(e,2))}`],...a.map(({path:e,name:t})=>`-F ${g(`${e}=@"${t.replace(/[\\"]/g,`\\$&`)}"`)}`)].filter(Boolean).join(` \\
  `)+`
`}var E=`gateway-body`;function D({body:e,headers:t,url:n,token:i,files:a}){let o=e=>e.replace(/[\\:=@;]/g,`\\$&`),s=t.map(([e,t])=>g(t?`${o(e)}:${t}`:`${o(e)};`)),c=d().map(({name:e,before:t})=>i===void 0?`\${GATEWAY_TOKEN:+"${e}:${t}$GATEWAY_TOKEN"}`:i&&g(`${o(e)}:${t}${i}`)),l=a.map(({path:e,name:t})=>g(`${o(e)}@${t}`)),u=a.length?[g(`${E}=${r(e,2)}`),...l]:[`--raw ${g(r(e,2))}`];return[`http --ignore-stdin ${a.length?`--multipart `:``}POST ${g(n)}`,...s,...c,...u].filter(Boolean).join(` \\
  `)+`
`}function O({service:e,model:t,act:n,set:a,get:o},{headers:s,url:c,token:l,files:u}){let d=l===void 0?`os.environ.get("GATEWAY_TOKEN")`:l?_(l):`None`,p=f.value[0],m=!p||p.in===`header`&&p.name===`token`,g=Object.fromEntries(s.filter(([e])=>e!==`Content-Type`&&e!==`X-Gateway`)),v=[...Object.keys(g).length?[`headers=${h(g)}`]:[],...m?[]:[`token_from=${p.in}(${p.in===`bearer`?``:_(p.name)})`]],y=e=>i(e)?`json.loads(${_(r(e))})`:h(e,`    `),b=e===`main`?``:`\n    service=${_(e)},`,x=[i({set:a,get:o})&&`import json
`,l===void 0&&`import os
`,u.length>0&&`from pathlib import Path
`].filter(Boolean).join(``),S=u.map(({path:e,name:t})=>`given${e.split(`.`).slice(1).map(k).join(``)} = Path(${_(t)})\n`),C=u.length?`given = ${i(a)?y(a):h(a)}\n${S.join(``)}`:``;return`${x&&`${x}\n`}from gateway_types import Client${m?``:`, ${p.in}`}  # of the downloads

client = Client(${[_(c),d,...v].join(`, `)})
${C}reply = client.call(
    ${_(t)},
    ${_(n)},${b}
    set=${C?`given`:y(a)},
    get=${y(o)},
)
print(reply)
`}function k(e){return`[${/^\d+$/.test(e)?e:_(e)}]`}function A({body:e,headers:t,url:n,token:a,files:o}){let s=t.map(([e,t])=>`    ${_(e)}: ${_(t)},\n`).join(``),c=d().map(({name:e,before:t})=>a&&`    ${_(e)}: ${_(t+a)},\n`),[l,u]=i(e)?[_(r(e)),`BODY.encode()`]:[h(e),`json.dumps(BODY).encode()`],f=o.length?`form()`:u,p=`FILES = {
${o.map(({path:e,name:t})=>`    ${_(e)}: ${_(t)},\n`).join(``)}}
BOUNDARY = secrets.token_hex(16)
HEADERS["Content-Type"] = f"multipart/form-data; boundary={BOUNDARY}"


def form():
    parts = [("${E}", "", ${u})]
    for path, name in FILES.items():
        with open(name, "rb") as file:
            quoted = name.replace('"', "%22")
            parts.append((path, f'; filename="{quoted}"', file.read()))
    lines = []
    for name, more, content in parts:
        head = f'--{BOUNDARY}\\r\\nContent-Disposition: form-data; name="{name}"{more}\\r\\n\\r\\n'
        lines += [head.encode(), content, b"\\r\\n"]
    return b"".join([*lines, f"--{BOUNDARY}--\\r\\n".encode()])


`,m=d().map(({name:e,before:t})=>`    HEADERS[${_(e)}] = ${t?`f"${t}{token}"`:`token`}\n`),g=a===void 0?`if token := os.environ.get("GATEWAY_TOKEN"):\n${m.join(``)}`:``;return`import json
${g&&`import os
`}${o.length?`import secrets
`:``}import urllib.error
import urllib.request

URL = ${_(n)}
HEADERS = {
${s}${c.filter(Boolean).join(``)}}
BODY = ${l}
${o.length?p:`
`}${g}request = urllib.request.Request(URL, ${f}, HEADERS)
try:
    with urllib.request.urlopen(request, timeout=30) as reply:
        envelope = json.load(reply)
except urllib.error.HTTPError as refused:
    envelope = json.load(refused)
print(json.dumps(envelope, indent=2))
`}function j({body:e,headers:t,url:n,token:a,files:o}){let s=t.map(([e,t])=>`    ${_(e)}: ${_(t)},\n`).join(``),c=d().map(({name:e,before:t})=>a&&`    ${M(e)}: ${_(t+a)},\n`),l=i(e)?_(r(e)):`JSON.stringify(${m(e,`  `)})`,u=d().map(({name:e,before:t})=>{let n=`process.env.GATEWAY_TOKEN`;return`${M(e)}: ${t?`\`${t}\${${n}}\``:n}`}),f=a===void 0?`    ...(process.env.GATEWAY_TOKEN ? { ${u.join(`, `)} } : {}),\n`:``,p=`const form = new FormData();
form.append("${E}", ${l});
${o.map(({path:e,name:t})=>`form.append(${_(e)}, await openAsBlob(${_(t)}), ${_(t)});\n`).join(``)}
`;return`${o.length?`import { openAsBlob } from "node:fs";

`:``}type Envelope = { success: true; body: unknown } | { success: false; body: { message: string } };

${o.length?p:``}const reply = await fetch(${_(n)}, {
  method: "POST",
  headers: {
${s}${c.filter(Boolean).join(``)}${f}  },
  body: ${o.length?`form`:l},
});
const envelope = (await reply.json()) as Envelope;
console.log(JSON.stringify(envelope, null, 2));
export {};
`}function M(e){return/^[A-Za-z_]\w*$/.test(e)?e:_(e)}function N({tab:r}){let i=[...r.files.value].map(([e,{name:t}])=>({path:e,name:t})),c=x(P(r.request.value),s()||a,{key:r.key.value.trim(),files:i}),[l,u]=e(c[0]?.language??``),d=c.find(({language:e})=>e===l);return b(v,{label:`Language`,items:c.map(({language:e,label:t})=>({key:e,label:t})),value:l,onChange:u,aside:b(y,{children:[d&&b(n,{text:d.text}),b(t,{small:!0,icon:`close`,label:`Close the code`,onClick:()=>void(r.shown.value=`tree`)})]}),children:b(`div`,{class:`snippet`,tabIndex:0,role:`region`,"aria-label":`Code`,children:b(`pre`,{children:d&&b(o,{text:d.text,language:d.syntax},l)})})})}function P(e){try{return l(e)}catch(t){if(!(t instanceof c))throw t;return e}}export{N as Snippets};