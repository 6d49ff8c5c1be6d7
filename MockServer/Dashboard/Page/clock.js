// The realm's clock.

function setUpClock() {
  for (const button of document.querySelectorAll("[data-advance]")) {
    button.addEventListener("click", () => advance(button.dataset.advance));
  }
  const told = ({ now }) => `The clock shows ${dateText(now)} ${clockText(now)}.`;
  const advance = (by) => act(() => call("POST", "clock", { advance: by }), told);
  for (const [form, input, key] of [["advance-form", "advance-by", "advance"], ["set-form", "set-to", "set"]]) {
    $(form).noValidate = true;
    $(form).addEventListener("submit", async (event) => {
      event.preventDefault();
      const problem = $(form).querySelector(".problem");
      const done = await submit($(form), problem, async () => {
        say(told(await call("POST", "clock", { [key]: $(input).value.trim() })));
      });
      if (done) $(input).value = "";
    });
  }
  $("clock-switch").addEventListener("click", () => {
    const mode = store.state?.clock === "real" ? "virtual" : "real";
    act(() => call("POST", "clock", { mode }), mode === "real" ? "The clock runs." : "The clock stands still.");
  });
  onState(showClock);
  setInterval(() => { if (store.state?.clock === "real" && !document.hidden) showClock(store.state); }, 1000);
}

function showClock(state) {
  const now = new Date(realmNow()).toISOString();
  put($("now"), `${dateText(now)} ${clockText(now)}${state.clock === "virtual" ? now.slice(19, 23) : ""} UTC`);
  $("now").dateTime = now;
  put($("clock-mode"), state.clock === "real" ? "runs" : "stands still");
  put($("clock-switch"), state.clock === "real" ? "Stop the clock" : "Let the clock run");
}
