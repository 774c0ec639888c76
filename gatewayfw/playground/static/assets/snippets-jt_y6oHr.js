import{S as e,l as t,t as n}from"./notice-BWOd2rtP.js";import{m as r,t as i,x as a}from"./catalog-MZkTtiym.js";import{t as o}from"./code-DoDnVZGI.js";import{N as s,Ot as c,Wt as l,at as u,dt as d,k as f}from"./tabs-DrPLxUZj.js";import{i as p,n as m,r as h,t as g}from"./literals-DYJg5TFw.js";import"./state-X2cuxgf1.js";import{c as _}from"./ui-z1sR4fZw.js";import{n as v,t as y}from"./jsxRuntime-avN8QTAV.js";function b(e,t,{token:n,key:r=``,files:i=[]}={}){let a={body:l(e),headers:x(r,i.length>0),url:t,token:n,files:i};return[{language:`curl`,label:`curl`,text:w(a),syntax:`shell`},{language:`httpie`,label:`HTTPie`,text:E(a),syntax:`shell`},{language:`python`,label:`Python`,text:k(a),syntax:`python`},{language:`client`,label:`Generated client`,text:D(e,a),syntax:`python`},{language:`typescript`,label:`TypeScript`,text:A(a),syntax:`typescript`}]}function x(e,t){let n=u.value.filter(({name:e,on:t})=>t&&e.trim()&&!S(e.trim().toLowerCase())).map(({name:e,value:t})=>[e.trim(),t.trim()]);return[t?[`X-Gateway`,`1`]:[`Content-Type`,`application/json`],...e?[[`Idempotency-Key`,e]]:[],...n]}function S(e){return[`content-type`,`idempotency-key`].includes(e)||d().some(t=>t.name.toLowerCase()===e)}function C(e,t){return`\${GATEWAY_TOKEN:+-H} \${GATEWAY_TOKEN:+"${e}: ${t}$GATEWAY_TOKEN"}`}function w({body:e,headers:t,url:n,token:r,files:i}){let o=t.map(([e,t])=>`-H ${h(t?`${e}: ${t}`:`${e};`)}`),s=d().map(({name:e,before:t})=>r===void 0?C(e,t):r&&`-H ${h(`${e}: ${t}${r}`)}`);return[`curl -sS --globoff ${h(n)}`,...o,...s,...i.length?[`--form-string ${h(`${T}=${a(e,2)}`)}`]:[`--data-raw ${h(a(e,2))}`],...i.map(({path:e,name:t})=>`-F ${h(`${e}=@"${t.replace(/[\\"]/g,`\\$&`)}"`)}`)].filter(Boolean).join(` \\
  `)+`
`}var T=`gateway-body`;function E({body:e,headers:t,url:n,token:r,files:i}){let o=e=>e.replace(/[\\:=@;]/g,`\\$&`),s=t.map(([e,t])=>h(t?`${o(e)}:${t}`:`${o(e)};`)),c=d().map(({name:e,before:t})=>r===void 0?`\${GATEWAY_TOKEN:+"${e}:${t}$GATEWAY_TOKEN"}`:r&&h(`${o(e)}:${t}${r}`)),l=i.map(({path:e,name:t})=>h(`${o(e)}@${t}`)),u=i.length?[h(`${T}=${a(e,2)}`),...l]:[`--raw ${h(a(e,2))}`];return[`http --ignore-stdin ${i.length?`--multipart `:``}POST ${h(n)}`,...s,...c,...u].filter(Boolean).join(` \\
  `)+`
`}function D({service:e,model:t,act:n,set:i,get:o},{headers:s,url:c,token:l,files:u}){let f=l===void 0?`os.environ.get("GATEWAY_TOKEN")`:l?g(l):`None`,p=d()[0]?.name??`token`,h=Object.fromEntries(s.filter(([e])=>e!==`Content-Type`&&e!==`X-Gateway`)),_=[...Object.keys(h).length?[`headers=${m(h)}`]:[],...p===`token`?[]:[`token_header=${g(p)}`]],v=e=>r(e)?`json.loads(${g(a(e))})`:m(e,`    `),y=e===`main`?``:`\n    service=${g(e)},`,b=[r({set:i,get:o})&&`import json
`,l===void 0&&`import os
`,u.length>0&&`from pathlib import Path
`].filter(Boolean).join(``),x=u.map(({path:e,name:t})=>`given${e.split(`.`).slice(1).map(O).join(``)} = Path(${g(t)})\n`),S=u.length?`given = ${r(i)?v(i):m(i)}\n${x.join(``)}`:``;return`${b&&`${b}\n`}from gateway_types import Client  # of the downloads

client = Client(${[g(c),f,..._].join(`, `)})
${S}reply = client.call(
    ${g(t)},
    ${g(n)},${y}
    set=${S?`given`:v(i)},
    get=${v(o)},
)
print(reply)
`}function O(e){return`[${/^\d+$/.test(e)?e:g(e)}]`}function k({body:e,headers:t,url:n,token:i,files:o}){let s=t.map(([e,t])=>`    ${g(e)}: ${g(t)},\n`).join(``),c=d().map(({name:e,before:t})=>i&&`    ${g(e)}: ${g(t+i)},\n`),[l,u]=r(e)?[g(a(e)),`BODY.encode()`]:[m(e),`json.dumps(BODY).encode()`],f=o.length?`form()`:u,p=`FILES = {
${o.map(({path:e,name:t})=>`    ${g(e)}: ${g(t)},\n`).join(``)}}
BOUNDARY = secrets.token_hex(16)
HEADERS["Content-Type"] = f"multipart/form-data; boundary={BOUNDARY}"


def form():
    parts = [("${T}", "", ${u})]
    for path, name in FILES.items():
        with open(name, "rb") as file:
            quoted = name.replace('"', "%22")
            parts.append((path, f'; filename="{quoted}"', file.read()))
    lines = []
    for name, more, content in parts:
        head = f'--{BOUNDARY}\\r\\nContent-Disposition: form-data; name="{name}"{more}\\r\\n\\r\\n'
        lines += [head.encode(), content, b"\\r\\n"]
    return b"".join([*lines, f"--{BOUNDARY}--\\r\\n".encode()])


`,h=d().map(({name:e,before:t})=>`    HEADERS[${g(e)}] = ${t?`f"${t}{token}"`:`token`}\n`),_=i===void 0?`if token := os.environ.get("GATEWAY_TOKEN"):\n${h.join(``)}`:``;return`import json
${_&&`import os
`}${o.length?`import secrets
`:``}import urllib.error
import urllib.request

URL = ${g(n)}
HEADERS = {
${s}${c.filter(Boolean).join(``)}}
BODY = ${l}
${o.length?p:`
`}${_}request = urllib.request.Request(URL, ${f}, HEADERS)
try:
    with urllib.request.urlopen(request, timeout=30) as reply:
        envelope = json.load(reply)
except urllib.error.HTTPError as refused:
    envelope = json.load(refused)
print(json.dumps(envelope, indent=2))
`}function A({body:e,headers:t,url:n,token:i,files:o}){let s=t.map(([e,t])=>`    ${g(e)}: ${g(t)},\n`).join(``),c=d().map(({name:e,before:t})=>i&&`    ${j(e)}: ${g(t+i)},\n`),l=r(e)?g(a(e)):`JSON.stringify(${p(e,`  `)})`,u=d().map(({name:e,before:t})=>{let n=`process.env.GATEWAY_TOKEN`;return`${j(e)}: ${t?`\`${t}\${${n}}\``:n}`}),f=i===void 0?`    ...(process.env.GATEWAY_TOKEN ? { ${u.join(`, `)} } : {}),\n`:``,m=`const form = new FormData();
form.append("${T}", ${l});
${o.map(({path:e,name:t})=>`form.append(${g(e)}, await openAsBlob(${g(t)}), ${g(t)});\n`).join(``)}
`;return`${o.length?`import { openAsBlob } from "node:fs";

`:``}type Envelope = { success: true; body: unknown } | { success: false; body: { message: string } };

${o.length?m:``}const reply = await fetch(${g(n)}, {
  method: "POST",
  headers: {
${s}${c.filter(Boolean).join(``)}${f}  },
  body: ${o.length?`form`:l},
});
const envelope = (await reply.json()) as Envelope;
console.log(JSON.stringify(envelope, null, 2));
export {};
`}function j(e){return/^[A-Za-z_]\w*$/.test(e)?e:g(e)}function M({tab:r}){let a=[...r.files.value].map(([e,{name:t}])=>({path:e,name:t})),s=b(N(r.request.value),f()||i,{key:r.key.value.trim(),files:a}),[c,l]=e(s[0]?.language??``),u=s.find(({language:e})=>e===c);return y(_,{label:`Language`,items:s.map(({language:e,label:t})=>({key:e,label:t})),value:c,onChange:l,aside:y(v,{children:[u&&y(n,{text:u.text}),y(t,{small:!0,icon:`close`,label:`Close the code`,onClick:()=>void(r.shown.value=`tree`)})]}),children:y(`div`,{class:`snippet`,tabIndex:0,role:`region`,"aria-label":`Code`,children:y(`pre`,{children:u&&y(o,{text:u.text,language:u.syntax},c)})})})}function N(e){try{return s(e)}catch(t){if(!(t instanceof c))throw t;return e}}export{M as Snippets};