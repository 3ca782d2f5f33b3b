// Plays a drive from above or a climb from the side, and ties it to its curves: a line there marks the moment shown, a click shows another moment.
"use strict";
(() => {
  const root = document.documentElement;

  function tie() {
    const view = document.querySelector("#top-view, #side-view"), curves = document.getElementById("over-time");
    const names = view.layout.sliders[0].steps.map(step => step.args[0][0]);  // a frame's name is its time
    let shown = 0;

    // Whoever asks for other pictures breaks off those that still wait: Plotly calls that a failure, here it is none.
    const show = (pictures, duration) => Plotly.animate(
      view, pictures, {mode: "immediate", frame: {duration, redraw: true}, transition: {duration: 0}},
    ).catch(() => {});

    // The line is no shape of Plotly's, which would draw all curves anew for each picture.
    const line = curves.appendChild(document.createElement("div"));
    line.className = "now";
    function mark() {
      const {xaxis, _size} = curves._fullLayout, x = xaxis.l2p(Number(names[shown]));
      const isSeen = x >= 0 && x <= xaxis._length;
      Object.assign(line.style, {left: `${xaxis._offset + x}px`, top: `${_size.t}px`, height: `${_size.h}px`, display: isSeen ? "" : "none"});
    }
    curves.on("plotly_afterplot", mark);
    curves.on("plotly_relayout", mark);
    mark();

    view.on("plotly_animatingframe", ({name}) => {
      shown = names.indexOf(name);
      mark();
    });
    view.on("plotly_buttonclicked", ({button}) => {
      if (button.name === "play") show(names.slice(shown < names.length - 1 ? shown : 0), button.args[0]);
      else show([null], 0);
    });
    // A figure may ask to be played when the page opens; whoever asked for less motion presses the button.
    if (view.layout.meta?.opens === "playing" && !matchMedia("(prefers-reduced-motion: reduce)").matches)
      show(names, view.layout.updatemenus[0].buttons[0].args[0]);
    curves.on("plotly_click", ({points}) => {
      const away = name => Math.abs(Number(name) - points[0].x);
      show([names.reduce((best, name) => away(name) < away(best) ? name : best)], 0);
    });
  }

  // The page says when its figures are drawn.
  if (root.dataset.drawn !== undefined) return tie();
  const watch = new MutationObserver(() => { watch.disconnect(); tie(); });
  watch.observe(root, {attributeFilter: ["data-drawn"]});
})();
