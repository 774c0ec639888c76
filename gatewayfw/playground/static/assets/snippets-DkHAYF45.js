import{S as e,l as t,t as n}from"./notice-BWOd2rtP.js";import{m as r,t as i,x as a}from"./catalog-MZkTtiym.js";import{t as o}from"./code-D61AFU0U.js";import{Kt as s,N as c,Ot as l,at as u,dt as d,k as f,ut as p}from"./tabs-DkINUvWZ.js";import{i as m,n as h,r as g,t as _}from"./literals-DYJg5TFw.js";import"./state-DEBna-H8.js";import{c as v}from"./ui-z1sR4fZw.js";import{n as y,t as b}from"./jsxRuntime-avN8QTAV.js";function x(e,t,{token:n,key:r=``,files:i=[]}={}){let a={body:s(e),headers:S(r,i.length>0),url:t,token:n,files:i};return[{language:`curl`,label:`curl`,text:T(a),syntax:`shell`},{language:`httpie`,label:`HTTPie`,text:D(a),syntax:`shell`},{language:`python`,label:`Python`,text:A(a),syntax:`python`},{language:`client`,label:`Generated client`,text:O(e,a),syntax:`python`},{language:`typescript`,label:`TypeScript`,text:j(a),syntax:`typescript`}]}function S(e,t){let n=u.value.filter(({name:e,on:t})=>t&&e.trim()&&!C(e.trim().toLowerCase())).map(({name:e,value:t})=>[e.trim(),t.trim()]);return[t?[`X-Gateway`,`1`]:[`Content-Type`,`application/json`],...e?[[`Idempotency-Key`,e]]:[],...n]}function C(e){return[`content-type`,`idempotency-key`].includes(e)||d().some(t=>t.name.toLowerCase()===e)}function w(e,t){return`\${GATEWAY_TOKEN:+-H} \${GATEWAY_TOKEN:+"${e}: ${t}$GATEWAY_TOKEN"}`}function T({body:e,headers:t,url:n,token:r,files:i}){let o=t.map(([e,t])=>`-H ${g(t?`${e}: ${t}`:`${e};`)}`),s=d().map(({name:e,before:t})=>r===void 0?w(e,t):r&&`-H ${g(`${e}: ${t}${r}`)}`);return[`curl -sS --globoff ${g(n)}`,...o,...s,...i.length?[`--form-string ${g(`${E}=${a(e,2)}`)}`]:[`--data-raw ${g(a(e,2))}`],...i.map(({path:e,name:t})=>`-F ${g(`${e}=@"${t.replace(/[\\"]/g,`\\$&`)}"`)}`)].filter(Boolean).join(` \\
  `)+`
`}var E=`gateway-body`;function D({body:e,headers:t,url:n,token:r,files:i}){let o=e=>e.replace(/[\\:=@;]/g,`\\$&`),s=t.map(([e,t])=>g(t?`${o(e)}:${t}`:`${o(e)};`)),c=d().map(({name:e,before:t})=>r===void 0?`\${GATEWAY_TOKEN:+"${e}:${t}$GATEWAY_TOKEN"}`:r&&g(`${o(e)}:${t}${r}`)),l=i.map(({path:e,name:t})=>g(`${o(e)}@${t}`)),u=i.length?[g(`${E}=${a(e,2)}`),...l]:[`--raw ${g(a(e,2))}`];return[`http --ignore-stdin ${i.length?`--multipart `:``}POST ${g(n)}`,...s,...c,...u].filter(Boolean).join(` \\
  `)+`
`}function O({service:e,model:t,act:n,set:i,get:o},{headers:s,url:c,token:l,files:u}){let d=l===void 0?`os.environ.get("GATEWAY_TOKEN")`:l?_(l):`None`,f=p.value[0],m=!f||f.in===`header`&&f.name===`token`,g=Object.fromEntries(s.filter(([e])=>e!==`Content-Type`&&e!==`X-Gateway`)),v=[...Object.keys(g).length?[`headers=${h(g)}`]:[],...m?[]:[`token_from=${f.in}(${f.in===`bearer`?``:_(f.name)})`]],y=e=>r(e)?`json.loads(${_(a(e))})`:h(e,`    `),b=e===`main`?``:`\n    service=${_(e)},`,x=[r({set:i,get:o})&&`import json
`,l===void 0&&`import os
`,u.length>0&&`from pathlib import Path
`].filter(Boolean).join(``),S=u.map(({path:e,name:t})=>`given${e.split(`.`).slice(1).map(k).join(``)} = Path(${_(t)})\n`),C=u.length?`given = ${r(i)?y(i):h(i)}\n${S.join(``)}`:``;return`${x&&`${x}\n`}from gateway_types import Client${m?``:`, ${f.in}`}  # of the downloads

client = Client(${[_(c),d,...v].join(`, `)})
${C}reply = client.call(
    ${_(t)},
    ${_(n)},${b}
    set=${C?`given`:y(i)},
    get=${y(o)},
)
print(reply)
`}function k(e){return`[${/^\d+$/.test(e)?e:_(e)}]`}function A({body:e,headers:t,url:n,token:i,files:o}){let s=t.map(([e,t])=>`    ${_(e)}: ${_(t)},\n`).join(``),c=d().map(({name:e,before:t})=>i&&`    ${_(e)}: ${_(t+i)},\n`),[l,u]=r(e)?[_(a(e)),`BODY.encode()`]:[h(e),`json.dumps(BODY).encode()`],f=o.length?`form()`:u,p=`FILES = {
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


`,m=d().map(({name:e,before:t})=>`    HEADERS[${_(e)}] = ${t?`f"${t}{token}"`:`token`}\n`),g=i===void 0?`if token := os.environ.get("GATEWAY_TOKEN"):\n${m.join(``)}`:``;return`import json
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
`}function j({body:e,headers:t,url:n,token:i,files:o}){let s=t.map(([e,t])=>`    ${_(e)}: ${_(t)},\n`).join(``),c=d().map(({name:e,before:t})=>i&&`    ${M(e)}: ${_(t+i)},\n`),l=r(e)?_(a(e)):`JSON.stringify(${m(e,`  `)})`,u=d().map(({name:e,before:t})=>{let n=`process.env.GATEWAY_TOKEN`;return`${M(e)}: ${t?`\`${t}\${${n}}\``:n}`}),f=i===void 0?`    ...(process.env.GATEWAY_TOKEN ? { ${u.join(`, `)} } : {}),\n`:``,p=`const form = new FormData();
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
`}function M(e){return/^[A-Za-z_]\w*$/.test(e)?e:_(e)}function N({tab:r}){let a=[...r.files.value].map(([e,{name:t}])=>({path:e,name:t})),s=x(P(r.request.value),f()||i,{key:r.key.value.trim(),files:a}),[c,l]=e(s[0]?.language??``),u=s.find(({language:e})=>e===c);return b(v,{label:`Language`,items:s.map(({language:e,label:t})=>({key:e,label:t})),value:c,onChange:l,aside:b(y,{children:[u&&b(n,{text:u.text}),b(t,{small:!0,icon:`close`,label:`Close the code`,onClick:()=>void(r.shown.value=`tree`)})]}),children:b(`div`,{class:`snippet`,tabIndex:0,role:`region`,"aria-label":`Code`,children:b(`pre`,{children:u&&b(o,{text:u.text,language:u.syntax},c)})})})}function P(e){try{return c(e)}catch(t){if(!(t instanceof l))throw t;return e}}export{N as Snippets};