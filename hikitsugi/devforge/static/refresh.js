// Keeps the living part of a page fresh; what somebody is typing stands outside of it.
const living = document.querySelector("[data-fragment]");
const INTERVAL = 2000;

async function refresh() {
  try {
    const answer = await fetch(living.dataset.fragment, { cache: "no-store" });
    const fresh = answer.ok ? await answer.text() : null;
    const busy = document.hidden || (living.contains(document.activeElement) && document.activeElement.matches("input"));
    if (fresh !== null && fresh !== shown && !busy) {
      const opened = [...living.querySelectorAll("details")].map((one) => one.open);
      living.innerHTML = fresh;
      living.querySelectorAll("details").forEach((one, at) => { one.open = opened[at] ?? one.open; });
      shown = fresh;
    }
    document.body.classList.toggle("away", !answer.ok);
  } catch {
    document.body.classList.add("away");
  }
  setTimeout(refresh, INTERVAL);
}

let shown = null;
if (living) setTimeout(refresh, INTERVAL);

// A half-typed comment survives a form sent beside it, and goes when it is sent itself.
const draft = document.querySelector("textarea[data-draft]");
if (draft) {
  draft.value ||= sessionStorage.getItem(location.pathname) ?? "";
  draft.addEventListener("input", () => sessionStorage.setItem(location.pathname, draft.value));
  draft.form.addEventListener("submit", () => sessionStorage.removeItem(location.pathname));
}

// Who is chosen beside the comment acts everywhere on the page, also before they have written anything.
const person = document.querySelector("select[name=person]");
document.addEventListener("submit", ({ target }) => {
  const hidden = target.querySelector("input[type=hidden][name=person]");
  if (person && hidden) hidden.value = person.value;
}, true);
