extension GrowthCurve {
  static let ofMegabytes = items(.megabytes, .largeFile)
}
