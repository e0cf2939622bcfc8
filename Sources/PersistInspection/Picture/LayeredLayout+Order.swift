extension LayeredLayout {
  private static let sweepCount = 24

  /// Sorts each column by the positions of its nodes' neighbors, sweeping back and forth, and keeps the order with the
  /// fewest crossings.
  mutating func orderColumns() {
    var best = columns
    var fewest = crossings()
    for sweep in 0..<Self.sweepCount where fewest > 0 {
      let isForward = sweep.isMultiple(of: 2)
      for column in isForward ? Array(columns.indices) : columns.indices.reversed() {
        sort(column, lookingBack: isForward)
      }
      let count = crossings()
      if count < fewest { (best, fewest) = (columns, count) }
    }
    columns = best
  }

  private mutating func sort(_ column: Int, lookingBack: Bool) {
    let places = places()
    let keys = columns[column].map { node -> (key: Double, place: Double) in
      let joints = lookingBack ? nodes[node].before : nodes[node].after
      let own = places[node]
      guard !joints.isEmpty else { return (own, own) }
      let mean = joints.reduce(0) { $0 + places[$1.node] + $1.other / 10_000 } / Double(joints.count)
      return (mean, own)
    }
    columns[column] = zip(columns[column], keys).sorted { $0.1 < $1.1 }.map(\.0)
  }

  /// The relative position of each node in its column, from 0 to 1.
  private func places() -> [Double] {
    var places = Array(repeating: 0.0, count: nodes.count)
    for column in columns {
      for (place, node) in column.enumerated() { places[node] = (Double(place) + 0.5) / Double(column.count) }
    }
    return places
  }

  private func crossings() -> Int {
    let places = places()
    return columns.reduce(0) { sum, column in
      let lines = column.flatMap { node in
        nodes[node].after.map {
          (places[node] + $0.own / 100_000, places[$0.node] + $0.other / 100_000)
        }
      }
      return sum + lines.indices.reduce(0) { sum, first in
        sum + lines[(first + 1)...].count { other in
          (lines[first].0 - other.0) * (lines[first].1 - other.1) < 0
        }
      }
    }
  }
}
