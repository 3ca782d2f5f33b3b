// Draws the figures whose data stand in the page, in the colours of the style sheet, and links their time axes.
"use strict";
(() => {
  const root = document.documentElement;
  const plots = [...document.querySelectorAll(".plot")];
  const isTouch = matchMedia("(pointer: coarse)").matches;

  const NARROW_PX = 560, PAPER_PX = 690;  // below the one: a phone; the other fits A4 and letter

  const isPrinting = () => root.dataset.print !== undefined;

  // Colours are the names of CSS variables; Plotly wants them resolved.
  function described(plot) {
    const style = getComputedStyle(root), colour = name => style.getPropertyValue(name).trim();
    const text = document.querySelector(`script[data-for="${plot.id}"]`).textContent;
    const figure = JSON.parse(text.replace(/var\((--[a-z]+)\)/g, (_, name) => colour(name)));
    figure.layout.font.family = getComputedStyle(document.body).fontFamily;
    figure.layout.hoverlabel = {bgcolor: colour("--soft"), bordercolor: colour("--grid")};
    figure.layout.modebar = {bgcolor: "rgba(0,0,0,0)", color: colour("--shade"), activecolor: colour("--blue")};
    if (isTouch) figure.layout.dragmode = false;  // a finger scrolls the page
    if (isPrinting()) figure.layout.width = PAPER_PX;
    else if (plot.clientWidth < NARROW_PX) narrow(figure.layout);
    return figure;
  }

  // On a phone every pixel of width counts.
  function narrow(layout) {
    layout.margin = {...layout.margin, l: 46, r: 6};
    layout.font.size = 11;
    for (const key in layout) if (key.startsWith("xaxis")) Object.assign(layout[key], {tickangle: 0, nticks: layout[key].nticks ? 3 : 6});
  }

  // A user's data stay on the page: Plotly's button that uploads a chart is off.
  const config = {
    responsive: true, showSendToCloud: false, plotlyServerURL: "", displaylogo: false, modeBarButtonsToRemove: ["lasso2d", "select2d"],
  };

  async function draw(plot) {
    const buttons = {displayModeBar: plot.clientWidth < NARROW_PX ? false : "hover"};
    await Plotly.react(plot, {...described(plot), config: {...config, ...buttons}});  // data, layout, and frames where it moves
  }

  function link(plot) {
    const others = plots.filter(other => other !== plot && plot.dataset.link && other.dataset.link === plot.dataset.link);
    if (!others.length) return;
    plot.on("plotly_relayout", change => {
      if (plot.isFollowing) return;
      const key = Object.keys(change).find(name => /^xaxis\d*\.(range\[0\]|range|autorange)$/.test(name));
      if (!key) return;
      const axis = key.split(".")[0];
      const update = key.endsWith("autorange") ? {"xaxis.autorange": true} : {"xaxis.range": plot.layout[axis].range.slice()};
      for (const other of others) {
        other.isFollowing = true;
        Plotly.relayout(other, update).finally(() => { other.isFollowing = false; });
      }
    });
  }

  const folds = [...document.querySelectorAll("details")];
  const resized = fold => fold.querySelectorAll(".plot").forEach(plot => Plotly.Plots.resize(plot));

  async function drawAll() {
    const closed = folds.filter(fold => !fold.open);
    closed.forEach(fold => { fold.open = true; });  // a figure needs its place to know its width
    for (const plot of plots) await draw(plot);
    plots.forEach(link);
    closed.forEach(fold => { fold.open = false; });
    folds.forEach(fold => fold.addEventListener("toggle", () => fold.open && resized(fold)));
    root.dataset.drawn = plots.length;
  }

  const redraw = () => plots.forEach(draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", () => { root.dataset.print = ""; folds.forEach(fold => { fold.open = true; }); redraw(); });
  addEventListener("afterprint", () => { delete root.dataset.print; redraw(); resized(document); });

  for (const button of document.querySelectorAll(".copy button")) {
    button.addEventListener("click", async () => {
      const text = button.parentElement.querySelector("pre");
      getSelection().selectAllChildren(text);
      try { await navigator.clipboard.writeText(text.textContent); button.textContent = "copied"; }
      catch { button.textContent = document.execCommand("copy") ? "copied" : "selected: press Ctrl+C"; }
    });
  }
  drawAll();
})();
