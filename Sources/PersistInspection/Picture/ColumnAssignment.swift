/// Assigns each box a column: near its neighbors, if possible never in the same column as one, and such that the whole
/// picture is about one and a half times as wide as high.
struct ColumnAssignment {
  /// The column of each box.
  private(set) var columns: [Int]
  private(set) var columnCount: Int
  /// The boxes by descending number of neighbors, each followed by its neighbors.
  let order: [Int]

  init(heights: [Double], boxWidth: Double, edges: [LayeredLayout.Edge]) {
    var neighbors = Array(repeating: [Int](), count: heights.count)
    for edge in edges where edge.source != edge.target {
      neighbors[edge.source].append(edge.target)
      neighbors[edge.target].append(edge.source)
    }
    order = Self.order(neighbors)
    let whole = heights.reduce(0) { $0 + $1 + LayeredLayout.rowGap }
    let area = whole * (boxWidth + LayeredLayout.columnGap)
    let height = max((area / 1.5).squareRoot(), heights.max() ?? 0, 1)
    let wanted = max(1, Int((whole / height).rounded(.up)) + (edges.isEmpty ? 0 : 1))
    columns = Array(repeating: -1, count: heights.count)
    columnCount = wanted
    assign(heights, neighbors, height: height)
    // Removes empty columns.
    let used = Set(columns).sorted()
    columns = columns.map { used.firstIndex(of: $0) ?? 0 }
    columnCount = used.count
  }

  private mutating func assign(_ heights: [Double], _ neighbors: [[Int]], height: Double) {
    var filled = Array(repeating: 0.0, count: columnCount)
    for box in order {
      let placed = neighbors[box].map { columns[$0] }.filter { $0 >= 0 }
      let costs = (0..<columnCount).map { column -> Double in
        let fullness = (filled[column] + heights[box]) / height
        let distance = placed.reduce(0.0) { sum, other in
          sum + (other == column ? 2.5 : Double(abs(other - column) - 1))
        }
        // Boxes without placed neighbors start in the middle.
        let offCentre = placed.isEmpty ? abs(Double(column) - Double(columnCount - 1) / 2) * 0.1 : 0
        return distance + offCentre + (fullness > 1 ? 3 * fullness : fullness)
      }
      let best = costs.indices.min { costs[$0] < costs[$1] } ?? 0
      columns[box] = best
      filled[best] += heights[box] + LayeredLayout.rowGap
    }
  }

  private static func order(_ neighbors: [[Int]]) -> [Int] {
    var order: [Int] = []
    var seen = Set<Int>()
    let byDegree = neighbors.indices.sorted { (neighbors[$1].count, $0) < (neighbors[$0].count, $1) }
    for start in byDegree where seen.insert(start).inserted {
      var next = order.count
      order.append(start)
      while next < order.count {
        for box in neighbors[order[next]] where seen.insert(box).inserted { order.append(box) }
        next += 1
      }
    }
    return order
  }
}
