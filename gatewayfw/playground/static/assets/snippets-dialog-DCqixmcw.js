import{S as e,f as t,t as n}from"./notice-CzE-kq0C.js";import{b as r,m as i,t as a}from"./catalog-CHuwTfZI.js";import{N as o,Q as s,St as c,it as l,k as u}from"./state-CQYvs7Wi.js";import{i as d,n as f,r as p,t as m}from"./literals-CFDrzmo6.js";import{a as h}from"./collection-mZYIDO1N.js";import{a as g,c as _}from"./ui-DlUMuCwT.js";function v(e,t,{token:n,key:r=``,files:i=[]}={}){let a={body:c(e),headers:y(r,i.length>0),url:t,token:n,files:i};return[{language:`curl`,label:`curl`,text:S(a)},{language:`httpie`,label:`HTTPie`,text:w(a)},{language:`python`,label:`Python`,text:D(a)},{language:`client`,label:`Generated client`,text:T(e,a)},{language:`typescript`,label:`TypeScript`,text:O(a)}]}function y(e,t){let n=s.value.filter(({name:e,on:t})=>t&&e.trim()&&!b(e.trim().toLowerCase())).map(({name:e,value:t})=>[e.trim(),t.trim()]);return[t?[`X-Gateway`,`1`]:[`Content-Type`,`application/json`],...e?[[`Idempotency-Key`,e]]:[],...n]}function b(e){return[`content-type`,`idempotency-key`].includes(e)||l().some(t=>t.name.toLowerCase()===e)}function x(e,t){return`\${GATEWAY_TOKEN:+-H} \${GATEWAY_TOKEN:+"${e}: ${t}$GATEWAY_TOKEN"}`}function S({body:e,headers:t,url:n,token:i,files:a}){let o=t.map(([e,t])=>`-H ${p(t?`${e}: ${t}`:`${e};`)}`),s=l().map(({name:e,before:t})=>i===void 0?x(e,t):i&&`-H ${p(`${e}: ${t}${i}`)}`);return[`curl -sS --globoff ${p(n)}`,...o,...s,...a.length?[`--form-string ${p(`${C}=${r(e)}`)}`]:[`--data-raw ${p(r(e))}`],...a.map(({path:e,name:t})=>`-F ${p(`${e}=@"${t.replace(/[\\"]/g,`\\$&`)}"`)}`)].filter(Boolean).join(` \\
  `)+`
`}var C=`gateway-body`;function w({body:e,headers:t,url:n,token:i,files:a}){let o=e=>e.replace(/[\\:=@;]/g,`\\$&`),s=t.map(([e,t])=>p(t?`${o(e)}:${t}`:`${o(e)};`)),c=l().map(({name:e,before:t})=>i===void 0?`\${GATEWAY_TOKEN:+"${e}:${t}$GATEWAY_TOKEN"}`:i&&p(`${o(e)}:${t}${i}`)),u=a.map(({path:e,name:t})=>p(`${o(e)}@${t}`)),d=a.length?[p(`${C}=${r(e)}`),...u]:[`--raw ${p(r(e))}`];return[`http --ignore-stdin ${a.length?`--multipart `:``}POST ${p(n)}`,...s,...c,...d].filter(Boolean).join(` \\
  `)+`
`}function T({service:e,model:t,act:n,set:a,get:o},{headers:s,url:c,token:u,files:d}){let p=u===void 0?`os.environ.get("GATEWAY_TOKEN")`:u?m(u):`None`,h=l()[0]?.name??`token`,g=Object.fromEntries(s.filter(([e])=>e!==`Content-Type`&&e!==`X-Gateway`)),_=[...Object.keys(g).length?[`headers=${f(g)}`]:[],...h===`token`?[]:[`token_header=${m(h)}`]],v=e=>i(e)?`json.loads(${m(r(e))})`:f(e,`    `),y=e===`main`?``:`\n    service=${m(e)},`,b=[i({set:a,get:o})&&`import json
`,u===void 0&&`import os
`,d.length>0&&`from pathlib import Path
`].filter(Boolean).join(``),x=d.map(({path:e,name:t})=>`given${e.split(`.`).slice(1).map(E).join(``)} = Path(${m(t)})\n`),S=d.length?`given = ${i(a)?v(a):f(a)}\n${x.join(``)}`:``;return`${b&&`${b}\n`}from gateway_types import Client  # of the downloads

client = Client(${[m(c),p,..._].join(`, `)})
${S}reply = client.call(
    ${m(t)},
    ${m(n)},${y}
    set=${S?`given`:v(a)},
    get=${v(o)},
)
print(reply)
`}function E(e){return`[${/^\d+$/.test(e)?e:m(e)}]`}function D({body:e,headers:t,url:n,token:a,files:o}){let s=t.map(([e,t])=>`    ${m(e)}: ${m(t)},\n`).join(``),c=l().map(({name:e,before:t})=>a&&`    ${m(e)}: ${m(t+a)},\n`),[u,d]=i(e)?[m(r(e)),`BODY.encode()`]:[f(e),`json.dumps(BODY).encode()`],p=o.length?`form()`:d,h=`FILES = {
${o.map(({path:e,name:t})=>`    ${m(e)}: ${m(t)},\n`).join(``)}}
BOUNDARY = secrets.token_hex(16)
HEADERS["Content-Type"] = f"multipart/form-data; boundary={BOUNDARY}"


def form():
    parts = [("${C}", "", ${d})]
    for path, name in FILES.items():
        with open(name, "rb") as file:
            quoted = name.replace('"', "%22")
            parts.append((path, f'; filename="{quoted}"', file.read()))
    lines = []
    for name, more, content in parts:
        head = f'--{BOUNDARY}\\r\\nContent-Disposition: form-data; name="{name}"{more}\\r\\n\\r\\n'
        lines += [head.encode(), content, b"\\r\\n"]
    return b"".join([*lines, f"--{BOUNDARY}--\\r\\n".encode()])


`,g=l().map(({name:e,before:t})=>`    HEADERS[${m(e)}] = ${t?`f"${t}{token}"`:`token`}\n`),_=a===void 0?`if token := os.environ.get("GATEWAY_TOKEN"):\n${g.join(``)}`:``;return`import json
${_&&`import os
`}${o.length?`import secrets
`:``}import urllib.error
import urllib.request

URL = ${m(n)}
HEADERS = {
${s}${c.filter(Boolean).join(``)}}
BODY = ${u}
${o.length?h:`
`}${_}request = urllib.request.Request(URL, ${p}, HEADERS)
try:
    with urllib.request.urlopen(request, timeout=30) as reply:
        envelope = json.load(reply)
except urllib.error.HTTPError as refused:
    envelope = json.load(refused)
print(json.dumps(envelope, indent=2))
`}function O({body:e,headers:t,url:n,token:a,files:o}){let s=t.map(([e,t])=>`    ${m(e)}: ${m(t)},\n`).join(``),c=l().map(({name:e,before:t})=>a&&`    ${k(e)}: ${m(t+a)},\n`),u=i(e)?m(r(e)):`JSON.stringify(${d(e,`  `)})`,f=l().map(({name:e,before:t})=>{let n=`process.env.GATEWAY_TOKEN`;return`${k(e)}: ${t?`\`${t}\${${n}}\``:n}`}),p=a===void 0?`    ...(process.env.GATEWAY_TOKEN ? { ${f.join(`, `)} } : {}),\n`:``,h=`const form = new FormData();
form.append("${C}", ${u});
${o.map(({path:e,name:t})=>`form.append(${m(e)}, await openAsBlob(${m(t)}), ${m(t)});\n`).join(``)}
`;return`${o.length?`import { openAsBlob } from "node:fs";

`:``}type Envelope = { success: true; body: unknown } | { success: false; body: { message: string } };

${o.length?h:``}const reply = await fetch(${m(n)}, {
  method: "POST",
  headers: {
${s}${c.filter(Boolean).join(``)}${p}  },
  body: ${o.length?`form`:u},
});
const envelope = (await reply.json()) as Envelope;
console.log(JSON.stringify(envelope, null, 2));
export {};
`}function k(e){return/^[A-Za-z_]\w*$/.test(e)?e:m(e)}function A({tab:e,onClose:n}){return t(_,{title:`As code`,onClose:n,wide:!0,children:t(j,{tab:e})})}function j({tab:r}){let i=[...r.files.value].map(([e,{name:t}])=>({path:e,name:t})),o=v(M(r.request.value),u()||a,{key:r.key.value.trim(),files:i}),[s,c]=e(o[0]?.language??``),l=o.find(({language:e})=>e===s);return t(g,{label:`Language`,items:o.map(({language:e,label:t})=>({key:e,label:t})),value:s,onChange:c,aside:l&&t(n,{text:l.text}),children:t(`div`,{class:`snippet`,tabIndex:0,role:`region`,"aria-label":`Code`,children:t(`pre`,{children:l?.text})})})}function M(e){try{return o(e)}catch(t){if(!(t instanceof h))throw t;return e}}export{j as Snippets,A as SnippetsDialog};