// Wide tables scroll on small screens: the keyboard reaches them too.
document$.subscribe(() =>
  requestAnimationFrame(() =>
    document.querySelectorAll(".md-typeset__scrollwrap").forEach((wrap) => {
      wrap.tabIndex = wrap.scrollWidth > wrap.clientWidth ? 0 : -1;
    })
  )
);
