#pragma once

#include <QColor>
#include <algorithm>
#include <array>
#include <cmath>

namespace fusescope::test {

/// Eyes that see all colours, and those that lack the cones for green or for red.
enum class Eyes { Usual, Deuteranope, Protanope };
inline constexpr std::array kAllEyes = {Eyes::Usual, Eyes::Deuteranope, Eyes::Protanope};

namespace color_distance {

using Three = std::array<double, 3>;

inline Three linearOf(const QColor& color) {
  const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
  return {linear(color.redF()), linear(color.greenF()), linear(color.blueF())};
}

/// As those eyes see it: Machado, Oliveira and Fernandes (2009), full severity.
inline Three seenBy(Eyes eyes, const Three& rgb) {
  constexpr std::array<Three, 3> kDeuteranope = {
      {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
  constexpr std::array<Three, 3> kProtanope = {
      {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
  if (eyes == Eyes::Usual) return rgb;
  const auto& by = eyes == Eyes::Deuteranope ? kDeuteranope : kProtanope;
  Three seen{};
  for (std::size_t i = 0; i < 3; ++i)
    seen[i] = std::clamp(by[i][0] * rgb[0] + by[i][1] * rgb[1] + by[i][2] * rgb[2], 0.0, 1.0);
  return seen;
}

/// Its place in CIE's L*a*b*, in which distances are about as large as they look.
inline Three labOf(const Three& rgb) {
  const auto root = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = root((0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.95047);
  const double y = root(0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]);
  const double z = root((0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

}  // namespace color_distance

/// ΔE of 1976: 2 or 3 are seen only side by side.
inline double distance(const QColor& a, const QColor& b, Eyes eyes = Eyes::Usual) {
  namespace of = color_distance;
  const auto x = of::labOf(of::seenBy(eyes, of::linearOf(a))), y = of::labOf(of::seenBy(eyes, of::linearOf(b)));
  return std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

/// For those of all eyes that see the least difference.
inline double leastDistance(const QColor& a, const QColor& b) {
  double least = distance(a, b);
  for (const Eyes eyes : kAllEyes) least = std::min(least, distance(a, b, eyes));
  return least;
}

}  // namespace fusescope::test
