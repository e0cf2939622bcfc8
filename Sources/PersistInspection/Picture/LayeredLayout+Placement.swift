extension LayeredLayout {
  private static let placementSweepCount = 12

  /// Assigns the nodes of each column their heights, each as close as possible to the height at which its lines are
  /// level.
  mutating func placeNodes() {
    for column in columns {
      var y = 0.0
      for node in column {
        nodes[node].y = y
        y += nodes[node].height + Self.rowGap
      }
    }
    for sweep in 0..<Self.placementSweepCount {
      let isForward = sweep.isMultiple(of: 2)
      for column in isForward ? Array(columns.indices) : columns.indices.reversed() {
        place(column, lookingBack: isForward, both: sweep >= Self.placementSweepCount - 2)
      }
    }
    let top = nodes.map(\.y).min() ?? 0
    for index in nodes.indices { nodes[index].y -= top }
  }

  private mutating func place(_ column: Int, lookingBack: Bool, both: Bool) {
    let members = columns[column]
    let wishes = members.map { index -> (y: Double, weight: Double) in
      let node = nodes[index]
      let joints = both ? node.before + node.after : lookingBack ? node.before : node.after
      guard !joints.isEmpty else { return (node.y, 0.1) }
      let wish = joints.reduce(0) { $0 + nodes[$1.node].y + $1.other - $1.own } / Double(joints.count)
      return (wish, Double(joints.count))
    }
    var offsets: [Double] = []
    var offset = 0.0
    for index in members {
      offsets.append(offset)
      offset += nodes[index].height + Self.rowGap
    }
    let settled = Self.settled(zip(wishes, offsets).map { ($0.y - $1, $0.weight) })
    for (place, index) in members.enumerated() { nodes[index].y = settled[place] + offsets[place] }
  }

  /// The nondecreasing numbers nearest to the desired ones: neighbors that would swap places share the mean of their
  /// desired positions (isotonic regression).
  private static func settled(_ wishes: [(value: Double, weight: Double)]) -> [Double] {
    var groups: [(value: Double, weight: Double, count: Int)] = []
    for wish in wishes {
      var group = (value: wish.value, weight: wish.weight, count: 1)
      while let last = groups.last, last.value > group.value {
        groups.removeLast()
        let weight = last.weight + group.weight
        group = (
          (last.value * last.weight + group.value * group.weight) / weight, weight, last.count + group.count
        )
      }
      groups.append(group)
    }
    return groups.flatMap { Array(repeating: $0.value, count: $0.count) }
  }
}
