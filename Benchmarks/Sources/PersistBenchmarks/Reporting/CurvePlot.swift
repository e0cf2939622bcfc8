import Foundation

/// The growth of single operations as lines, a field for each measure: cost over that at the smallest size. A line that
/// doesn't bend is level.
struct CurvePlot {
  let lines: [GrowthCurve.Line]

  private static let (left, top, width, height, gap) = (50.0, 60.0, 280.0, 180.0, 150.0)
  private static let (least, greatest) = (0.25, 8.0)
  private static let colours = ["#d9480f", "#1971c2", "#2f9e44", "#9c36b5", "#e8590c", "#0c8599"]

  var svg: String {
    let axes = GrowthCurve.Axis.allCases.filter { axis in lines.contains { $0.curve.axis == axis } }
    let fields = axes.enumerated().map { index, axis in
      let (column, row) = (Double(index % 2), Double(index / 2))
      return field(
        axis, x: Self.left + column * (Self.width + Self.gap), y: Self.top + row * (Self.height + 70))
    }
    let height = Self.top + Double((axes.count + 1) / 2) * (Self.height + 70)
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.left + 2 * (Self.width + Self.gap))" height="\(height)" \
      font-family="sans-serif" font-size="11">
      <rect width="100%" height="100%" fill="white"/>
      <text x="10" y="20" font-size="14">Instructions of an operation, over those in the smallest store; dashed: plain \
      SQLite</text>
      \(fields.joined(separator: "\n"))
      </svg>

      """
  }

  private func field(_ axis: GrowthCurve.Axis, x: Double, y: Double) -> String {
    let own = lines.filter { $0.curve.axis == axis }
    guard let sizes = own.first?.sizes, let first = sizes.first, let last = sizes.last else { return "" }
    func across(_ size: Int) -> Double {
      guard last > first else { return x }
      return x + log(Double(size) / Double(first)) / log(Double(last) / Double(first)) * Self.width
    }
    func down(_ ratio: Double) -> Double {
      let part = log(min(max(ratio, Self.least), Self.greatest) / Self.least) / log(Self.greatest / Self.least)
      return y + Self.height * (1 - part)
    }
    var parts = [
      """
      <rect x="\(x)" y="\(y)" width="\(Self.width)" height="\(Self.height)" fill="none" stroke="#ced4da"/>
      """,
      "<text x=\"\(x)\" y=\"\(y - 8)\" font-size=\"12\">\(axis.summary)</text>",
    ]
    for ratio in [0.25, 0.5, 1, 2, 4, 8] {
      parts.append(
        """
        <line x1="\(x)" y1="\(down(ratio))" x2="\(x + Self.width)" y2="\(down(ratio))" stroke="#e9ecef"/>
        <text x="\(x - 6)" y="\(down(ratio) + 4)" text-anchor="end">\(ReportTable.number(ratio))</text>
        """)
    }
    for size in sizes {
      parts.append(
        """
        <text x="\(across(size))" y="\(y + Self.height + 15)" text-anchor="middle">\(CurveTable.grouped(size))</text>
        """)
    }
    for (index, line) in own.enumerated() {
      let colour = Self.colours[index % Self.colours.count]
      func points(_ costs: [Double]) -> String {
        zip(line.sizes, costs).map { "\(across($0)),\(down($1 / (costs.first ?? 1)))" }.joined(separator: " ")
      }
      parts.append(
        """
        <polyline points="\(points(line.sqlite))" fill="none" stroke="\(colour)" stroke-dasharray="2 4"/>
        <polyline points="\(points(line.persist))" fill="none" stroke="\(colour)" stroke-width="2"/>
        <text x="\(x + Self.width + 8)" y="\(y + 12 + Double(index) * 15)" fill="\(colour)">\(line.curve.name)</text>
        """)
    }
    return parts.joined(separator: "\n")
  }
}
