import{S as e,T as t,a as n,c as r,d as i,f as a,o,s,u as c,v as l,x as u}from"./notice-CzE-kq0C.js";import{a as d,b as f,t as p,v as m,y as h}from"./catalog-CHuwTfZI.js";import{t as ee}from"./FileButton-COY2wS4D.js";import{n as g,t as te}from"./NotKept-WvkGhLnm.js";import{n as ne,t as _}from"./names-Cp8cle4z.js";import{a as re,d as v,n as ie}from"./collection-mZYIDO1N.js";import{c as ae}from"./saved-B2YcCp8L.js";import{Ct as oe,L as se,St as y,_ as ce,a as b,bt as le,ct as ue,g as de,it as fe,k as pe,l as me,ot as he,st as ge,yt as _e}from"./state-CQYvs7Wi.js";import{a as ve,i as ye,n as be,r as xe,s as x,t as S}from"./ui-DlUMuCwT.js";import{n as Se,t as C}from"./format-CnK_8VHs.js";import{t as w}from"./tree-CZNnEueB.js";import{addCapture as Ce,addCheck as we,addSequence as Te,addStep as Ee,begin as De,change as T,changeStep as E,choose as Oe,copyStep as ke,current as D,drafts as O,formDrafts as k,hasPlainSecret as Ae,hideSecrets as je,isBroken as A,isRunning as Me,lastAdded as Ne,moveStep as j,n as Pe,problem as Fe,r as M,refusal as Ie,removeCurrent as Le,removePart as N,removeStep as Re,removeVariable as ze,report as P,sequences as Be,start as Ve,stop as He,t as Ue,undoable as We,writeReport as Ge}from"./store-CLyp-A8C.js";import{n as Ke,t as F}from"./path-CLCS6Vhg.js";import{a as I,l as L,o as qe,r as Je,s as R}from"./secrets-C3bISKie.js";import{a as z,i as B,n as Ye,o as Xe,t as Ze}from"./parts-CKkH9pgG.js";import{f as Qe,l as $e,p as V,s as et}from"./form-BjE0Yd9a.js";/* empty css             */import{n as H,t as U}from"./literals-CFDrzmo6.js";/* empty css                */var W=22,G=7,tt=80;function nt({steps:e}){let n=e.map((e,t)=>({number:t+1,found:M(e)})),r=Math.max(...n.map(({found:e})=>e?.worst??0));if(!(r>0))return null;let i=e=>`${(G+e/r*73).toFixed(2)}%`;return a(`figure`,{class:`sequences-chart`,children:[a(`svg`,{height:n.length*W+8,role:`img`,"aria-label":`Durations of the steps: a line from the best to the worst, a dot at the mean. The table has the numbers.`,children:n.map(({number:e,found:n},r)=>{let o=r*W+W/2+4;return a(`g`,{children:[a(`text`,{class:`sequences-chart-number`,x:`4.5%`,y:o+4,children:e}),a(`line`,{class:`sequences-chart-ground`,x1:`${G}%`,x2:`${tt}%`,y1:o,y2:o}),n&&a(t,{children:[a(`line`,{class:`sequences-chart-range`,x1:i(n.best),x2:i(n.worst),y1:o,y2:o}),a(`circle`,{class:`sequences-chart-mean`,cx:i(n.mean),cy:o,r:`5`}),a(`text`,{class:`sequences-chart-value`,x:`82%`,y:o+4,children:C(n.mean)})]})]},e)})}),a(`figcaption`,{class:`muted small`,children:`From the best to the worst; the dot and the number are the mean.`})]})}function rt({report:e}){let t=u(null);l(()=>t.current?.scrollIntoView({block:`nearest`}),[e.state]);let n=e.finished-e.failed,r=e.steps.map((e,t)=>({step:e,number:t+1}));return a(`section`,{class:`sequences-report`,"aria-label":`Report`,ref:t,children:[a(`div`,{class:`row`,children:[a(`h3`,{children:`Report`}),a(S,{look:e.failed>0?`bad`:e.state===`done`?`ok`:`warn`,children:e.state===`running`?`running`:e.state===`stopped`?`stopped`:e.failed>0?`failed`:`passed`}),a(`span`,{class:`grow`,role:`status`,children:[e.finished,` of `,e.total,` sent, `,n,` as expected, `,e.failed,` not; `,C(e.ms)]}),e.state!==`running`&&a(s,{small:!0,icon:`download`,onClick:()=>o(`${_(e.name)}-report.json`,Ge(e)),children:`Save the report`})]}),a(`progress`,{class:e.failed>0?`bad`:void 0,max:Math.max(1,e.total),value:e.finished,"aria-label":`Requests sent`}),a(xe,{label:`Durations of the steps`,columns:it,rows:r,rowKey:({number:e})=>e}),a(nt,{steps:e.steps}),r.map(({step:e,number:t})=>a(at,{step:e,number:t},t))]})}var it=[{key:`step`,title:`Step`,cell:({step:e,number:t})=>`${t}. ${e.name}`},{key:`sent`,title:`Sent`,numeric:!0,cell:({step:e})=>`${e.attempts.length} of ${e.repeat}`},{key:`failed`,title:`Failed`,numeric:!0,cell:({step:e})=>e.attempts.filter(({problem:e})=>e).length},{key:`best`,title:`Best`,numeric:!0,cell:({step:e})=>K(e,`best`)},{key:`mean`,title:`Mean`,numeric:!0,cell:({step:e})=>K(e,`mean`)},{key:`worst`,title:`Worst`,numeric:!0,cell:({step:e})=>K(e,`worst`)}];function K(e,t){let n=M(e);return n?C(n[t]):`–`}var q=20;function at({step:t,number:n}){let[r,o]=e(!1),[c,l]=e(q);if(t.attempts.length===0)return null;let u=t.attempts.filter(({problem:e})=>e),d=[...u,...t.attempts.filter(({problem:e})=>!e)];return a(`div`,{class:`sequences-attempts`,children:[a(`button`,{type:`button`,class:`library-fold`,"aria-expanded":r,onClick:()=>o(!r),children:[a(i,{name:r?`down`:`right`}),a(S,{look:u.length>0?`bad`:`ok`,children:u.length>0?`${u.length} failed`:`ok`}),a(`span`,{children:[`Replies of step `,n,`: `,t.name]})]}),u[0]&&a(`p`,{class:`sequences-problem`,children:u[0].problem}),r&&a(`ol`,{class:`library-entries`,children:d.slice(0,c).map(e=>a(st,{attempt:e,step:t.id},e.index))}),r&&d.length>c&&a(s,{small:!0,onClick:()=>l(c+q),children:`Show more`})]})}function ot({step:e,value:r,path:i}){return D.value.steps.some(({id:t})=>t===e)?a(t,{children:[a(`code`,{class:`grow`,children:i}),Je({path:i,value:r})&&a(s,{small:!0,icon:`check`,onClick:c(()=>{we(e,i,r),n(`The step expects this at ${i}.`)}),children:`Expect this`}),a(s,{small:!0,icon:`add`,onClick:c(()=>n(`Later steps have it as {{${Ce(e,i)}}}.`)),children:`Capture`})]}):a(`code`,{children:i})}function st({attempt:t,step:n}){let[r,o]=e(!1),{index:s,problem:c,status:l,ms:u,bytes:d,request:f,text:p,captured:m}=t,h=r?oe(p):void 0;return a(`li`,{class:`library-entry`,children:[a(`div`,{class:`library-line`,children:[a(`button`,{type:`button`,class:`library-fold`,"aria-expanded":r,onClick:()=>o(!r),children:[a(i,{name:r?`down`:`right`}),a(S,{look:c?`bad`:`ok`,children:l||`not sent`}),a(`span`,{children:[`Request `,s+1]})]}),a(`span`,{class:`library-facts`,children:[C(u),` · `,Se(d)]})]}),r&&a(`div`,{class:`library-detail`,children:[a(`section`,{children:[a(`h4`,{children:`Request`}),f?a(w,{value:y(f),label:`Request`}):a(`p`,{class:`muted`,children:`Its placeholders could not be filled in.`})]}),a(`section`,{children:[a(`h4`,{children:`Reply`}),h?a(w,{value:h,label:`Reply`,bar:(e,t)=>a(ot,{step:n,value:e,path:Ke(t)})}):a(`pre`,{children:p||c||`The reply was not stored.`})]}),Object.keys(m).length>0&&a(`section`,{children:[a(`h4`,{children:`Captured`}),a(w,{value:m,label:`Captured`})]})]})]})}function ct({id:e,captures:t}){let n=ne(`id`,t.map(e=>e.name),`_`);E(e,{captures:[...t,{id:L(),name:n,path:`body._id`}]})}function lt({step:{id:e,captures:n}}){let r=(t,r)=>E(e,{captures:n.map(e=>e.id===t?{...e,...r}:e)});return a(t,{children:n.map(t=>a(ut,{capture:t,onChange:e=>r(t.id,e),onRemove:()=>N(e,`captures`,t.id,`Capture ${t.name}`)},t.id))})}function ut({capture:e,onChange:t,onRemove:n}){let[i,o]=V(e.name),[s,c]=V(e.path),l=J(s);return a(`div`,{class:`sequences-row`,role:`group`,"aria-label":`Capture ${e.name}`,children:[a(x,{label:`Capture as`,errors:R.test(i)?[]:[`Letters, digits and _ only.`],children:n=>a(`input`,{...n,class:`mono`,value:i,onInput:n=>{let r=n.currentTarget.value;o(r,R.test(r)?r:e.name),R.test(r)&&t({name:r})}})}),a(x,{label:`From`,errors:l,class:`grow`,children:n=>a(`input`,{...n,class:`mono`,value:s,placeholder:`body.user._id`,onInput:n=>{let r=n.currentTarget.value;c(r,J(r).length===0?r:e.path),J(r).length===0&&t({path:r})}})}),a(r,{icon:`remove`,label:`Remove the capture ${e.name}`,onClick:e=>{g(e),n()}})]})}function J(e){try{return F(e),[]}catch(e){if(!(e instanceof re))throw e;return[`${e.message}.`]}}function Y(e,t=!1){return typeof e==`string`&&(t||!Z(e))?e:f(e)}function X(e){return Z(e)?m(e):e}function Z(e){return h(e)===``}function dt({id:e,checks:t}){E(e,{checks:[...t,{id:L(),path:`body._id`,value:``}]})}function ft({step:{id:e,checks:n}}){let r=(t,r)=>E(e,{checks:n.map(e=>e.id===t?{...e,...r}:e)});return a(t,{children:n.map(t=>a(pt,{check:t,onChange:e=>r(t.id,e),onRemove:()=>N(e,`checks`,t.id,`What ${t.path} must be is`)},t.id))})}function pt({check:e,onChange:t,onRemove:n}){let[i,o]=V(e.path),[s,c]=V(Y(e.value));return a(`div`,{class:`sequences-row`,role:`group`,"aria-label":`Expected at ${e.path}`,children:[a(x,{label:`Expect at`,errors:J(i),class:`grow`,children:n=>a(`input`,{...n,class:`mono`,value:i,onInput:n=>{let r=n.currentTarget.value,i=J(r).length===0;o(r,i?r:e.path),i&&t({path:r})}})}),a(x,{label:`the value`,class:`grow`,children:e=>a(`input`,{...e,class:`mono`,spellcheck:!1,value:s,onInput:e=>{let n=e.currentTarget.value;c(n,Y(X(n))),t({value:X(n)})}})}),a(r,{icon:`remove`,label:`Expect nothing at ${e.path}`,onClick:e=>{g(e),n()}})]})}function mt({step:t,at:n,count:o}){let[s,l]=e(Ne.value===t.id),u=n+1;return a(`li`,{class:`sequences-step`,children:[a(`div`,{class:`library-line`,children:[a(`button`,{type:`button`,class:`library-fold`,"aria-expanded":s,onClick:()=>l(!s),children:[a(i,{name:s?`down`:`right`}),a(`span`,{class:`muted`,children:[u,`.`]}),a(`span`,{class:`library-title`,children:t.name}),t.repeat>1&&a(S,{children:[t.repeat,` times`]})]}),t.name!==v(t.request)&&a(`span`,{class:`library-facts`,children:v(t.request)}),a(`span`,{class:`library-acts`,children:[a(r,{small:!0,icon:`up`,label:`Move step ${u} up`,disabled:n===0,onClick:()=>j(t.id,-1)}),a(r,{small:!0,icon:`down`,label:`Move step ${u} down`,disabled:u===o,onClick:()=>j(t.id,1)}),a(r,{small:!0,icon:`copy`,label:`Duplicate step ${u}`,onClick:()=>ke(t.id)}),a(r,{small:!0,icon:`remove`,label:`Remove step ${u}`,onClick:c(e=>{g(e),Re(t.id)})})]})]}),s&&a(ht,{step:t,number:u})]})}function ht({step:e,number:t}){return a(`div`,{class:`sequences-body`,children:[a(`div`,{class:`sequences-row`,children:[a(x,{label:`Name`,class:`grow`,children:t=>a(`input`,{...t,value:e.name,maxLength:200,onInput:t=>t.currentTarget.value&&E(e.id,{name:t.currentTarget.value})})}),a(gt,{step:e}),a(_t,{step:e}),a(vt,{step:e})]}),a(bt,{step:e,number:t}),Ae(e)&&a(`p`,{class:`sequences-warning`,children:[`A password or token stands here as plain text; it is not kept.`,` `,a(s,{small:!0,onClick:()=>je(e),children:`Make it a secret variable`})]}),a(ft,{step:e}),a(lt,{step:e}),a(`div`,{class:`row`,children:[a(s,{small:!0,icon:`add`,onClick:()=>dt(e),children:`Expect a value in the reply`}),a(s,{small:!0,icon:`add`,onClick:()=>ct(e),children:`Capture a value of the reply`}),a(s,{small:!0,look:`quiet`,disabled:O.value.has(e.id),onClick:()=>me(e.request),children:`Open in a tab`})]})]})}function gt({step:e}){return a(x,{label:`Repeat`,children:t=>a(`input`,{...t,class:`sequences-number`,type:`number`,min:1,max:qe,value:e.repeat,onInput:t=>{let n=Math.trunc(t.currentTarget.valueAsNumber);n>=1&&n<=1e3&&E(e.id,{repeat:n})}})})}function _t({step:e}){let{variables:t,steps:n}=D.value,r=[...t,...n.flatMap(({captures:e})=>e)].map(({name:e})=>`{{${e}}}`),i=[...new Set([...r,...e.token.startsWith(`{{`)?[e.token]:[]])];return a(x,{label:`Token`,children:t=>a(`select`,{...t,value:e.token,onChange:t=>E(e.id,{token:t.currentTarget.value}),children:[a(`option`,{value:`current`,children:`the page's`}),a(`option`,{value:`none`,children:`none`}),i.map(e=>a(`option`,{value:e,children:e},e))]})})}function vt({step:{id:e,expect:n}}){return a(t,{children:[a(x,{label:`Expect`,children:t=>a(`select`,{...t,value:n.success?`yes`:`no`,onChange:t=>E(e,{expect:{...n,success:t.currentTarget.value===`yes`}}),children:[a(`option`,{value:`yes`,children:`success`}),a(`option`,{value:`no`,children:`a refusal`})]})}),a(x,{label:`Status`,children:t=>a(`input`,{...t,class:`sequences-number`,type:`number`,min:100,max:599,placeholder:`any`,value:n.status??``,onInput:t=>{let r=t.currentTarget.valueAsNumber,i=Number.isInteger(r)&&r>=100&&r<=599;(i||t.currentTarget.value===``)&&E(e,{expect:{...n,status:i?r:null}})}})})]})}var yt=[{key:`form`,label:`Form`},{key:`json`,label:`JSON`}];function bt({step:t,number:n}){let r=de(t.request),i=k(t.id),[o,s]=e(O.value.has(t.id)?`json`:`form`),c=O.value.has(t.id)?`json`:i.value.size>0?`form`:o;if(!r)return a(Q,{step:t,number:n});let l=e=>{let n=D.value.steps.find(({id:e})=>e===t.id)??t;E(t.id,{request:{...n.request,...e}})},u=D.value.steps.slice(0,n-1).flatMap(({captures:e})=>e),d=[...new Set(u.map(({name:e})=>`{{${e}}}`))].slice(-6);return a(ve,{label:`How step ${n} is edited`,items:yt,value:c,onChange:s,children:c===`json`?a(Q,{step:t,number:n}):a(Qe.Provider,{value:i,children:a($e.Provider,{value:e=>We(e,xt(t)),children:a(et.Provider,{value:d,children:a(`div`,{class:`request-form`,role:`group`,"aria-label":`Form of step ${n}`,children:[a(`h3`,{children:`Set`}),a(Ye,{kind:r.set,value:t.request.set,onChange:e=>l({set:e})}),a(`h3`,{children:`Get`}),a(Ze,{kind:r.get,value:t.request.get,onChange:e=>l({get:e})})]})})})})})}function xt({id:e,request:t}){let n=k(e).value;return()=>{E(e,{request:t}),k(e).value=n}}function Q({step:e,number:t}){let[n,r]=V(z(e.request)),i=O.value.get(e.id),o=i===void 0?``:B(i);return a(`div`,{class:`sequences-details`,children:[a(`p`,{class:`field-label`,children:a(`b`,{children:`set and get`})}),a(Xe,{label:`set and get of step ${t}`,value:i??n,onChange:t=>{let n=B(t);_e(O,e.id,typeof n==`string`?t:void 0),typeof n!=`string`&&(r(t,z(n)),E(e.id,{request:{...e.request,...n}}))}}),a(`p`,{class:`sequences-problem`,role:`alert`,children:typeof o==`string`?o:``})]})}function St(e,t){let n=I(e),r=n.variables.filter(({secret:e})=>e),i=[`    body: Any
    values: dict[str, Any] = {}
`,...n.variables.map(Dt),...n.steps.map((e,t)=>Ot(e,t+1))];return`"""Requests to a gateway in an order, made with its playground; a wrong reply fails the test.

GATEWAY_URL is the endpoint. GATEWAY_TOKEN is the token of the calls with \`token=TOKEN\`.
${r.map(({name:e})=>`${$(e)} is the variable ${e}; it must be set.\n`).join(``)}"""

from __future__ import annotations

import json
import os
import re
import secrets
import urllib.error
import urllib.request
import uuid
from datetime import datetime, timezone
from typing import Any

URL = os.environ.get("GATEWAY_URL", ${U(t)})
TOKEN = os.environ.get("GATEWAY_TOKEN", "")


def ${Et(n.name)}() -> None:
    ${U(n.name)}
${i.join(``)}

${Nt.replace(`{"token": token}`,wt)}`}function Ct(e,t){let{steps:n,variables:r}=I(e);return[...[...n.some(({token:e})=>e===`current`)?[`GATEWAY_TOKEN`]:[],...r.filter(({secret:e})=>e).map(({name:e})=>$(e))].map(e=>`${e}=...`),`pytest`,t].join(` `)}function wt(){return`{${fe().map(({name:e,before:t})=>`${U(e)}: ${t?`f"${t}{token}"`:`token`}`).join(`, `)}}`}var Tt=[`GATEWAY_URL`,`GATEWAY_TOKEN`];function $(e){let t=`GATEWAY_${e.toUpperCase()}`;return Tt.includes(t)?`${t}_VALUE`:t}function Et(e){return`test_${e.toLowerCase().replace(/[^a-z0-9]+/g,`_`).replace(/^_+|_+$/g,``).slice(0,60)||`sequence`}`}function Dt({name:e,value:t,secret:n}){let r=n?`secret(${U($(e))})`:`fill(${H(t,`    `)}, values)`;return`    values[${U(e)}] = ${r}\n`}function Ot(e,t){let n=e.repeat>1?`        `:`    `,r=e.repeat>1?`index`:`0`,i=e.repeat>1?`    for index in range(${e.repeat}):\n`:``,a=e.captures.length+e.checks.length>0?`reply = `:``,o=[`token=${kt(e)}`,...e.expect.success?[]:[`success=False`],...e.expect.status===null?[]:[`status=${e.expect.status}`]];return`
${i}${n}values["$index"] = ${r}
${n}body = ${H(y(e.request),n)}
${n}${a}call(${U(`${t}. ${e.name}`)}, fill(body, values), ${o.join(`, `)})
${e.checks.map(e=>jt(e,n)).join(``)}${e.captures.map(e=>At(e,n)).join(``)}`}function kt({token:e}){return e===`current`?`TOKEN`:e===`none`?`""`:`fill(${U(e)}, values)`}function At({name:e,path:t},n){return`${n}values[${U(e)}] = at(reply, ${Mt(t)})\n`}function jt({path:e,value:t},n){return`${n}check(at(reply, ${Mt(e)}), fill(${H(t,n)}, values), ${U(e)})\n`}function Mt(e){return F(e).map(e=>typeof e==`number`?String(e):U(e)).join(`, `)}var Nt=`
def secret(name: str) -> str:
    """Return the value of an environment variable, which must have one."""
    if not os.environ.get(name):
        raise AssertionError(f"set the environment variable {name}: this file holds no passwords and tokens")
    return os.environ[name]


def call(name: str, body: Any, *, token: Any, success: bool = True, status: int | None = None) -> dict[str, Any]:
    """Send a request and return the envelope, which is what was expected."""
    headers = {"Content-Type": "application/json", "X-Gateway-Detail": "1", **({"token": token} if token else {})}
    request = urllib.request.Request(URL, as_json(body).encode("utf-8", "backslashreplace"), headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            got, envelope = reply.status, read(reply)
    except urllib.error.HTTPError as refused:
        got, envelope = refused.code, read(refused)
    message = "" if envelope["success"] else ": " + envelope["body"]["message"]
    if envelope["success"] is not success:
        raise AssertionError(f"{name}: expected {'success' if success else 'a refusal'}, got status {got}{message}")
    if status is not None and got != status:
        raise AssertionError(f"{name}: expected status {status}, got {got}{message}")
    return envelope  # type: ignore[no-any-return]  # JSON


class Number(str):
    """A number with the digits that it is written with; a float would not keep them."""


def read(reply: Any) -> Any:
    return json.load(reply, parse_int=Number, parse_float=Number)


def as_json(value: Any) -> str:
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name, ensure_ascii=False)}:{as_json(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(as_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def at(reply: Any, *steps: str | int) -> Any:
    """Return what is in a reply at a path."""
    found = reply
    for step in steps:
        is_there = step in found if isinstance(found, dict) else isinstance(found, list) and step in range(len(found))
        if not is_there:
            raise AssertionError(f"there is nothing at {steps}")
        found = found[step]
    return found


def check(found: Any, expected: Any, path: str) -> None:
    """Fail unless a value of a reply is what was expected, digit by digit."""
    if as_json(found) != as_json(expected):
        raise AssertionError(f"expected {as_json(expected)} at {path}, got {as_json(found)}")


PLACEHOLDER = re.compile(r"${ue}")


def fill(value: Any, values: dict[str, Any]) -> Any:
    """Return a value with its placeholders filled in; a text that is one becomes the value itself."""
    if isinstance(value, dict):
        return {name: fill(inner, values) for name, inner in value.items()}
    if isinstance(value, list):
        return [fill(inner, values) for inner in value]
    if isinstance(value, Number) or not isinstance(value, str):
        return value
    if alone := PLACEHOLDER.fullmatch(value):
        return value_of(alone[1], values)
    return PLACEHOLDER.sub(lambda found: as_text(value_of(found[1], values)), value)


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else as_json(value)


def value_of(text: str, values: dict[str, Any]) -> Any:
    name, *bounds = text.split()
    if name in GENERATED:
        return GENERATED[name](*map(int, bounds))
    return values[text]


NAMES = ${H([...ge])}
GENERATED: dict[str, Any] = {
    "$uuid": lambda: str(uuid.uuid4()),
    "$int": lambda least, most: least + secrets.randbelow(most - least + 1),
    "$name": lambda: secrets.choice(NAMES),
    "$email": lambda: f"user-{secrets.token_hex(6)}@example.com",
    "$now": lambda: datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    "$objectId": lambda: secrets.token_hex(12),
}
`.slice(1);function Pt(){let{variables:e}=D.value,t=(t,n)=>T({variables:e.map(e=>e.id===t?{...e,...n}:e)});return a(`details`,{class:`sequences-variables`,open:e.length>0,children:[a(`summary`,{children:[a(i,{name:`right`}),`Variables (`,e.length,`)`]}),a(`p`,{class:`field-hint`,children:[`Write `,a(`code`,{children:`{{name}}`}),` in a step for the value of a variable or capture. Made anew each time:`,` `,he.map(([e,t],n)=>a(`span`,{children:[n>0&&`, `,a(`code`,{children:e}),` `,t]},e)),`.`]}),e.map(e=>a(Ft,{variable:e,onChange:n=>t(e.id,n),onRemove:()=>ze(e.id)},e.id)),a(s,{small:!0,icon:`add`,onClick:()=>{let t=ne(`value`,e.map(e=>e.name),`_`);T({variables:[...e,{id:L(),name:t,value:``,secret:!1}]})},children:`Add a variable`})]})}function Ft({variable:{name:e,value:t,secret:n},onChange:i,onRemove:o}){let[s,c]=V(e),[l,u]=V(Y(t,n)),d=R.test(s),f=n?`Not in any file; the exported test reads ${$(e)}`:void 0;return a(`div`,{class:`sequences-row`,role:`group`,"aria-label":`Variable ${e}`,children:[a(x,{label:`Name`,errors:d?[]:[`Letters, digits and _ only.`],children:t=>a(`input`,{...t,class:`mono`,value:s,onInput:t=>{let r=t.currentTarget.value;c(r,R.test(r)?r:e),R.test(r)&&i({name:r,...!n&&ie(r)&&{secret:!0,value:l}})}})}),a(x,{label:`Value`,hint:f,class:`grow`,children:e=>a(`input`,{...e,class:n?`sequences-secret`:void 0,spellcheck:!1,autocomplete:`off`,value:l,onInput:e=>{let t=e.currentTarget.value,r=n?t:X(t);u(t,Y(r,n)),i({value:r})}})}),a(`label`,{class:`library-check`,children:[a(`input`,{type:`checkbox`,checked:n,onChange:e=>{let t=e.currentTarget.checked;i({secret:t,value:t?l:X(l)})}}),`Secret`]}),a(r,{icon:`remove`,label:`Remove the variable ${e}`,onClick:e=>{g(e),o()}})]})}function It(){let[t,n]=e(``),{steps:r}=D.value;return a(`div`,{class:`page sequences`,children:[a(`h2`,{class:`sr-only`,children:`Sequences`}),a(Lt,{}),a(Bt,{onProblem:n}),a(`p`,{class:`library-problem`,role:`alert`,children:t||Fe.value}),a(te,{exported:!0,refusal:Ie.value}),a(Pt,{}),r.length===0?a(be,{icon:`list`,title:`No steps yet`,children:`Add an act, an open tab or a saved request. Values of one reply can go into later requests.`}):a(`ol`,{class:`library-entries`,"aria-label":`Steps`,children:r.map((e,t)=>a(mt,{step:e,at:t,count:r.length},e.id))}),a(Ut,{}),P.value&&a(rt,{report:P.value})]})}function Lt(){let e=Be.value;return e.length<2?null:a(x,{label:`Sequence`,class:`sequences-chooser`,children:t=>a(`select`,{...t,value:D.value.id,onChange:e=>Oe(e.currentTarget.value),children:e.map(({id:e,name:t})=>a(`option`,{value:e,children:t},e))})})}function Rt({onProblem:e}){let t=D.value,r=(e,t,n)=>o(t,e,n);return a(`div`,{class:`sequences-files row`,children:[a(s,{small:!0,look:`quiet`,icon:`add`,onClick:De,children:`New`}),a(ee,{quiet:!0,onProblem:e,onText:e=>{Te(Ue(e)),n(`Imported.`)},children:`Import`}),a(ye,{label:`Export`,icon:`download`,look:`quiet`,small:!0,items:[{label:`Sequence as a file (JSON)`,disabled:A.value,onSelect:()=>r(Pe(t),`${_(t.name)}.json`)},{label:`Test for pytest (Python)`,disabled:t.steps.length===0||A.value,onSelect:()=>{let e=zt(t.name);r(St(t,pe()||p),e,`text/x-python`),n(`Run it with: ${Ct(t,e)}`,{lasts:!0})}}]}),a(s,{small:!0,look:`quiet`,icon:`remove`,onClick:c(Le),children:`Remove`})]})}function zt(e){return`test_${_(e,`_`).toLowerCase().replace(/-/g,`_`)}.py`}function Bt({onProblem:e}){let t=D.value,n=A.value;return a(`div`,{class:`sequences-head`,children:[a(x,{label:a(`span`,{class:`sr-only`,children:`Name`}),class:`grow`,children:e=>a(`input`,{...e,class:`sequences-name`,value:t.name,maxLength:200,onInput:e=>e.currentTarget.value.trim()&&T({name:e.currentTarget.value})})}),a(Rt,{onProblem:e}),a(`label`,{class:`library-check`,children:[a(`input`,{type:`checkbox`,checked:t.stopOnFailure,onChange:e=>T({stopOnFailure:e.currentTarget.checked})}),`Stop at the first failure`]}),Me.value?a(s,{look:`primary`,icon:`stop`,onClick:c(He),children:`Stop`}):a(s,{look:`primary`,icon:`play`,disabled:n||t.steps.length===0,onClick:c(()=>void Ve().then(Vt)),children:`Run`}),n&&a(`span`,{class:`sequences-problem`,children:`The JSON of a step is not valid: fix it first.`})]})}function Vt(){requestAnimationFrame(()=>document.querySelector(`.sequences-report`)?.scrollIntoView({block:`nearest`}))}function Ht(e){let t=ce.value.map(({request:e,drafts:t})=>({group:`Open tabs`,name:v(e.value),make:()=>e.value,problem:le(t.value)&&`not valid`})),n=ae.value.map(({name:e,request:t})=>({group:`Saved requests`,name:e,make:()=>t})),r=d(e).map(e=>({group:e.service===`main`?`Acts of ${e.model}`:`${e.service}: acts of ${e.model}`,name:e.act,make:()=>se(b.value,e)}));return[...t,...n,...r]}function Ut(){let[t,n]=e(0),r=Ht(b.value),i=[...new Set(r.map(({group:e})=>e))];return a(`div`,{class:`sequences-adder`,children:[a(x,{label:`Add a step`,class:`grow`,children:e=>a(`select`,{...e,value:t,onChange:e=>n(Number(e.currentTarget.value)),children:i.map(e=>a(`optgroup`,{label:e,children:r.map((t,n)=>t.group===e?a(`option`,{value:n,disabled:!!t.problem,children:[t.name,t.problem&&` (${t.problem})`]},n):null)},e))})}),a(s,{icon:`add`,disabled:D.value.steps.length>=200,onClick:()=>{let e=r[t],n=e?.problem?void 0:e?.make();n&&Ee(n,v(n))},children:`Add`})]})}export{It as Sequences};