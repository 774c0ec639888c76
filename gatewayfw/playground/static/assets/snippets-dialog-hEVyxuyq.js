import{L as e,S as t,T as n,U as r,f as i,t as a}from"./notice-DfIie3DL.js";import{B as o,C as s,k as c,ot as l}from"./state-B5ks3BWV.js";import{i as u,n as d,r as f,t as p}from"./literals-B-5_vfNZ.js";import{a as m}from"./collection-CUwtoKQP.js";import{a as h,c as g}from"./ui-Dxy7e2QO.js";function _(e,t,n){let r={body:l(e),headers:v(),url:t,token:n};return[{language:`curl`,label:`curl`,text:x(r)},{language:`httpie`,label:`HTTPie`,text:S(r)},{language:`python`,label:`Python`,text:w(r)},{language:`client`,label:`Generated client`,text:C(e,r)},{language:`typescript`,label:`TypeScript`,text:T(r)}]}function v(){return[[`Content-Type`,`application/json`],...s.value.filter(({name:e,on:t})=>t&&e.trim()&&!y(e.trim().toLowerCase())).map(({name:e,value:t})=>[e.trim(),t.trim()])]}function y(e){return e===`content-type`||c().some(t=>t.name.toLowerCase()===e)}function b(e,t){return`\${GATEWAY_TOKEN:+-H} \${GATEWAY_TOKEN:+"${e}: ${t}$GATEWAY_TOKEN"}`}function x({body:e,headers:t,url:n,token:i}){let a=t.map(([e,t])=>`-H ${f(t?`${e}: ${t}`:`${e};`)}`),o=c().map(({name:e,before:t})=>i===void 0?b(e,t):i&&`-H ${f(`${e}: ${t}${i}`)}`);return[`curl -sS --globoff ${f(n)}`,...a,...o,`--data-raw ${f(r(e))}`].filter(Boolean).join(` \\
  `)+`
`}function S({body:e,headers:t,url:n,token:i}){let a=e=>e.replace(/[\\:=@;]/g,`\\$&`),o=t.map(([e,t])=>f(t?`${a(e)}:${t}`:`${a(e)};`)),s=c().map(({name:e,before:t})=>i===void 0?`\${GATEWAY_TOKEN:+"${e}:${t}$GATEWAY_TOKEN"}`:i&&f(`${a(e)}:${t}${i}`));return[`http --ignore-stdin POST ${f(n)}`,...o,...s,`--raw ${f(r(e))}`].filter(Boolean).join(` \\
  `)+`
`}function C({service:t,model:n,act:i,set:a,get:o},{headers:s,url:l,token:u}){let f=u===void 0?`os.environ.get("GATEWAY_TOKEN")`:u?p(u):`None`,m=c()[0]?.name??`token`,h=Object.fromEntries(s.filter(([e])=>e!==`Content-Type`)),g=[...Object.keys(h).length?[`headers=${d(h)}`]:[],...m===`token`?[]:[`token_header=${p(m)}`]],_=t=>e(t)?`json.loads(${p(r(t))})`:d(t,`    `),v=t===`main`?``:`\n    service=${p(t)},`,y=[e({set:a,get:o})&&`import json
`,u===void 0&&`import os
`].filter(Boolean).join(``);return`${y&&`${y}\n`}from gateway_types import Client  # of the downloads

client = Client(${[p(l),f,...g].join(`, `)})
reply = client.call(
    ${p(n)},
    ${p(i)},${v}
    set=${_(a)},
    get=${_(o)},
)
print(reply)
`}function w({body:t,headers:n,url:i,token:a}){let o=n.map(([e,t])=>`    ${p(e)}: ${p(t)},\n`).join(``),s=c().map(({name:e,before:t})=>a&&`    ${p(e)}: ${p(t+a)},\n`),[l,u]=e(t)?[p(r(t)),`BODY.encode()`]:[d(t),`json.dumps(BODY).encode()`],f=c().map(({name:e,before:t})=>`    HEADERS[${p(e)}] = ${t?`f"${t}{token}"`:`token`}\n`),m=a===void 0?`if token := os.environ.get("GATEWAY_TOKEN"):\n${f.join(``)}`:``;return`import json
${m&&`import os
`}import urllib.error
import urllib.request

URL = ${p(i)}
HEADERS = {
${o}${s.filter(Boolean).join(``)}}
BODY = ${l}

${m}request = urllib.request.Request(URL, ${u}, HEADERS)
try:
    with urllib.request.urlopen(request, timeout=30) as reply:
        envelope = json.load(reply)
except urllib.error.HTTPError as refused:
    envelope = json.load(refused)
print(json.dumps(envelope, indent=2))
`}function T({body:t,headers:n,url:i,token:a}){let o=n.map(([e,t])=>`    ${p(e)}: ${p(t)},\n`).join(``),s=c().map(({name:e,before:t})=>a&&`    ${E(e)}: ${p(t+a)},\n`),l=e(t)?p(r(t)):`JSON.stringify(${u(t,`  `)})`,d=c().map(({name:e,before:t})=>{let n=`process.env.GATEWAY_TOKEN`;return`${E(e)}: ${t?`\`${t}\${${n}}\``:n}`}),f=a===void 0?`    ...(process.env.GATEWAY_TOKEN ? { ${d.join(`, `)} } : {}),\n`:``;return`type Envelope = { success: true; body: unknown } | { success: false; body: { message: string } };

const reply = await fetch(${p(i)}, {
  method: "POST",
  headers: {
${o}${s.filter(Boolean).join(``)}${f}  },
  body: ${l},
});
const envelope = (await reply.json()) as Envelope;
console.log(JSON.stringify(envelope, null, 2));
export {};
`}function E(e){return/^[A-Za-z_]\w*$/.test(e)?e:p(e)}function D({request:e,onClose:t}){return i(g,{title:`As code`,onClose:t,wide:!0,children:i(O,{request:e})})}function O({request:e}){let r=_(k(e),n),[o,s]=t(r[0]?.language??``),c=r.find(({language:e})=>e===o);return i(h,{label:`Language`,items:r.map(({language:e,label:t})=>({key:e,label:t})),value:o,onChange:s,aside:c&&i(a,{text:c.text}),children:i(`div`,{class:`snippet`,tabIndex:0,role:`region`,"aria-label":`Code`,children:i(`pre`,{children:c?.text})})})}function k(e){try{return o(e)}catch(t){if(!(t instanceof m))throw t;return e}}export{O as Snippets,D as SnippetsDialog};