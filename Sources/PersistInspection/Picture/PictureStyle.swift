/// The style of a picture, for light and dark color schemes. Changes are never shown by color alone.
package enum PictureStyle {
  /// The sign of a change, for readers who can't distinguish the colors.
  static func sign(_ change: ModelPicture.Change) -> String {
    switch change {
    case .added: "+"
    case .removed: "−"
    case .changed: "~"
    case .unchanged: ""
    }
  }

  package static let sheet = """
    svg { background: #ffffff; color-scheme: light dark }
    text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; \
    font-size: 12px; fill: #1f2328 }
    .sheet { fill: #ffffff }
    .title { font-size: 20px; font-weight: 600 }
    .name { font-size: 13px; font-weight: 600 }
    .muted { fill: #656d76 }
    .small { font-size: 11px }
    .end { text-anchor: end }
    .mark { font-weight: 700; text-anchor: middle }
    .box { fill: #ffffff; stroke: #d0d7de; stroke-width: 1.2 }
    .head { fill: #f6f8fa }
    .rule { stroke: #d0d7de; stroke-width: 1 }
    .link { fill: none; stroke: #8c959f; stroke-width: 1.2 }
    .arrow { fill: #ffffff; stroke: #8c959f; stroke-width: 1.2 }
    .added .box, .added .arrow, .link.added, .swatch.added, .arrow.added { stroke: #1a7f37 }
    .removed .box, .link.removed, .swatch.removed, .arrow.removed { stroke: #cf222e }
    .changed .box, .link.changed, .swatch.changed, .arrow.changed { stroke: #bf8700 }
    .link.added, .link.removed, .link.changed { stroke-width: 2 }
    .link.removed, .removed .box { stroke-dasharray: 5 3 }
    .added .head, .row.added, .swatch.added { fill: #dafbe1 }
    .removed .head, .row.removed, .swatch.removed { fill: #ffebe9 }
    .changed .head, .row.changed, .swatch.changed { fill: #fff8c5 }
    .swatch.unchanged { fill: #f6f8fa; stroke: #d0d7de }
    .ink.added { fill: #116329 }
    .ink.removed { fill: #a40e26 }
    .ink.changed { fill: #7d4e00 }
    .gone { text-decoration: line-through }
    @media (prefers-color-scheme: dark) {
    svg { background: #0d1117 }
    text { fill: #e6edf3 }
    .sheet { fill: #0d1117 }
    .muted { fill: #9198a1 }
    .box { fill: #161b22; stroke: #3d444d }
    .head { fill: #212830 }
    .rule { stroke: #3d444d }
    .link { stroke: #656c76 }
    .arrow { fill: #0d1117; stroke: #656c76 }
    .added .box, .link.added, .swatch.added, .arrow.added { stroke: #3fb950 }
    .removed .box, .link.removed, .swatch.removed, .arrow.removed { stroke: #f85149 }
    .changed .box, .link.changed, .swatch.changed, .arrow.changed { stroke: #d29922 }
    .added .head, .row.added, .swatch.added { fill: #12361f }
    .removed .head, .row.removed, .swatch.removed { fill: #4b1516 }
    .changed .head, .row.changed, .swatch.changed { fill: #3b2e0a }
    .swatch.unchanged { fill: #212830; stroke: #3d444d }
    .ink.added { fill: #56d364 }
    .ink.removed { fill: #ff8882 }
    .ink.changed { fill: #e3b341 }
    }
    """
}
