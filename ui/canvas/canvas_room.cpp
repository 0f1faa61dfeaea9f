#include "ui/canvas/canvas_room.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/canvas/canvas_metrics.h"

namespace fusescope {
namespace {

constexpr double kNear = 0.5;
// The room for a wire to turn when it goes around a grown item; no gap between two ranks is smaller.
constexpr double kBend = 20;
constexpr double kLeastGap = 24;  // the gap between a grown item and its neighbours

bool overlap(const QRectF& a, const QRectF& b) {
  return a.top() < b.bottom() && b.top() < a.bottom();
}

bool isVertical(CanvasCurves::Points piece) {
  return std::all_of(piece.begin(), piece.end(),
                     [&](const QPointF& p) { return std::abs(p.x() - piece[0].x()) < kNear; });
}

}  // namespace

void appendStraight(std::vector<QPointF>& points, const QPointF& to) {
  const QPointF from = points.back(), step = (to - from) / 3;
  if (std::abs(step.x()) + std::abs(step.y()) < 0.01) return;
  points.insert(points.end(), {from + step, from + 2 * step, to});
}

void appendBend(std::vector<QPointF>& points, const QPointF& to) {
  const QPointF from = points.back();
  if (std::abs(from.x() - to.x()) < kNear) return appendStraight(points, to);
  const QPointF down(0, (to.y() - from.y()) * 0.55);
  points.insert(points.end(), {from + down, to - down, to});
}

// ---- facts about a rank and a level ----

bool CanvasRoom::Rank::contains(double y) const {
  return y > top - kNear && y < bottom + kNear;
}

double CanvasRoom::Rank::movesAt(double x) const {
  for (const Member& member : members)
    if (x > member.left - kNear && x < member.right + kNear) return member.moves;
  return 0;
}

// Returns how far an item at `y` moves down.
double CanvasRoom::Stretch::drop(double y) const {
  double sum = 0;
  for (const Rank& rank : ranks) {
    if (rank.bottom > y + 0.01) break;
    sum += rank.grows;
  }
  return sum;
}

const CanvasRoom::Rank* CanvasRoom::Stretch::at(double y) const {
  for (const Rank& rank : ranks)
    if (rank.contains(y)) return &rank;
  return nullptr;
}

std::size_t CanvasRoom::Level::indexAt(double x) const {
  const auto next = std::upper_bound(stretches.begin() + 1, stretches.end(), x,
                                     [](double place, const Stretch& stretch) { return place < stretch.gutter; });
  return std::size_t(next - stretches.begin()) - 1;
}

bool CanvasRoom::Level::isGutter(double x) const {
  const std::size_t i = indexAt(x);
  return i > 0 && x < stretches[i].left - kNear;
}

// Returns how far a point moves down. A wire in a gutter comes from the end of the stretch before it.
double CanvasRoom::Level::drop(const QPointF& point) const {
  const std::size_t i = indexAt(point.x());
  return stretches[i > 0 && isGutter(point.x()) ? i - 1 : i].drop(point.y());
}

const CanvasRoom::Rank* CanvasRoom::Level::rankAt(const QPointF& point) const {
  return isGutter(point.x()) ? nullptr : at(point.x()).at(point.y());
}

const CanvasRoom::Level* CanvasRoom::roomIn(int level) const {
  const auto found = m_levels.find(level);
  return found == m_levels.end() ? nullptr : &found->second;
}

int CanvasRoom::depthOf(int item) const {
  int depth = 0;
  for (; item >= 0; item = m_scene.items[std::size_t(item)].parent) ++depth;
  return depth;
}

// ---- making room, from the innermost level outwards ----

CanvasRoom::CanvasRoom(const CanvasScene& scene, const std::vector<Grown>& grown)
    : m_scene(scene), m_touched(scene.edges.size(), false) {
  std::map<std::pair<int, int>, GrownOfLevel> waiting;  // by depth, the deepest first, and by container
  const auto wait = [&](const Grown& one) {
    const int container = scene.items[std::size_t(one.item)].parent;
    waiting[{-depthOf(container), container}].push_back(one);
    m_sizes[one.item] = one.size;
  };
  for (const Grown& one : grown) wait(one);
  while (!waiting.empty()) {
    const int container = waiting.begin()->first.second;
    const GrownOfLevel inside = std::move(waiting.begin()->second);
    waiting.erase(waiting.begin());
    makeRoom(container, inside);
    if (container < 0) continue;
    const QRectF& rect = scene.rects[std::size_t(container)];
    const Level& level = m_levels[container];
    wait({container, rect.size() + QSizeF(level.wider, level.taller), rect.left()});
  }
  moveItems();
}

std::vector<CanvasRoom::Stretch> CanvasRoom::stretchesOf(int container) const {
  constexpr double kFar = std::numeric_limits<double>::max();
  const QRectF border = container < 0 ? m_scene.bounds : m_scene.rects[std::size_t(container)];
  const double begin = container < 0 ? -kFar : border.left() + metrics::kPadding;
  std::vector<Stretch> stretches{{.gutter = begin, .left = begin, .end = border.right() - metrics::kPadding}};
  if (const auto wrapped = m_scene.columns.find(container); wrapped != m_scene.columns.end()) {
    for (const PlacedColumn& column : wrapped->second) {
      const double end = std::exchange(stretches.back().end, column.gutter);
      stretches.push_back({.gutter = column.gutter, .left = column.left, .end = end});
    }
  }
  return stretches;
}

void CanvasRoom::makeRoom(int container, const GrownOfLevel& grown) {
  Level& level = m_levels[container];
  level.stretches = stretchesOf(container);
  std::vector<GrownOfLevel> ofStretch(level.stretches.size());
  for (const Grown& one : grown)
    ofStretch[level.indexAt(m_scene.rects[std::size_t(one.item)].center().x())].push_back(one);
  for (std::size_t s = 0; s < level.stretches.size(); ++s) {
    Stretch& stretch = level.stretches[s];
    stretch.moves = level.wider;
    level.wider += makeRoomIn(container, stretch, ofStretch[s]);
    level.taller = std::max(level.taller, stretch.drop(std::numeric_limits<double>::max()));
  }
}

// Makes room in a stretch and returns how much wider it becomes.
double CanvasRoom::makeRoomIn(int container, Stretch& stretch, const GrownOfLevel& grown) {
  std::vector<std::pair<Rank, GrownOfLevel>> ranks;
  for (const Grown& one : grown) {
    const QRectF& rect = m_scene.rects[std::size_t(one.item)];
    auto known = std::find_if(ranks.begin(), ranks.end(), [&](const auto& r) {
      return std::any_of(r.first.members.begin(), r.first.members.end(),
                         [&](const Member& member) { return member.item == one.item; });
    });
    if (known == ranks.end()) known = ranks.insert(ranks.end(), {rankOf(container, stretch, one), {}});
    known->second.push_back(one);
    known->first.grows = std::max(known->first.grows, rect.top() + one.size.height() - known->first.bottom);
  }
  std::sort(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) { return a.first.top < b.first.top; });
  double right = stretch.end;
  for (auto& [rank, ofRank] : ranks) {
    push(rank, ofRank, stretch.left);
    for (const Member& member : rank.members) {
      const auto size = m_sizes.find(member.item);
      const double width = size == m_sizes.end() ? member.right - member.left : size->second.width();
      right = std::max(right, member.left + member.moves + width);
    }
    touch(stretch, rank);
    stretch.ranks.push_back(std::move(rank));
  }
  return right - stretch.end;
}

// Returns all items in the rank, and the wires through it.
CanvasRoom::Rank CanvasRoom::rankOf(int container, const Stretch& stretch, const Grown& grown) const {
  const QRectF& of = m_scene.rects[std::size_t(grown.item)];
  Rank rank{.top = of.top(), .bottom = of.bottom()};
  const double left = std::max(stretch.left, m_scene.bounds.left());
  const QRectF across(left, of.center().y(), stretch.end - left, 0);
  for (const int i : m_scene.itemIndex.meeting(across)) {
    const QRectF& rect = m_scene.rects[std::size_t(i)];
    if (m_scene.items[std::size_t(i)].parent != container || !overlap(rect, of)) continue;
    rank.top = std::min(rank.top, rect.top());
    rank.bottom = std::max(rank.bottom, rect.bottom());
    rank.members.push_back({rect.left(), rect.right(), i});
  }
  addWires(stretch, rank);
  std::sort(rank.members.begin(), rank.members.end(), [](const Member& a, const Member& b) { return a.left < b.left; });
  return rank;
}

void CanvasRoom::addWires(const Stretch& stretch, Rank& rank) const {
  const double left = std::max(stretch.left, m_scene.bounds.left());
  const auto isKnown = [&](double x) {
    for (const Member& member : rank.members)
      if (x > member.left - kNear && x < member.right + kNear) return true;
    return false;
  };
  std::vector<double> places;
  for (const int e : m_scene.edgeIndex.meeting(QRectF(left, rank.top, stretch.end - left, 0))) {
    const CanvasCurves::Points points = m_scene.curves.of(e);
    for (std::size_t p = 0; p + 3 < points.size(); p += 3) {
      const CanvasCurves::Points piece = points.subspan(p, 4);
      const double above = std::min(piece[0].y(), piece[3].y()), below = std::max(piece[0].y(), piece[3].y());
      const bool inside = piece[0].x() > stretch.left - kNear && piece[0].x() < stretch.end + kNear;
      if (inside && above <= rank.top + kNear && below >= rank.bottom - kNear && isVertical(piece))
        places.push_back(piece[0].x());
    }
  }
  std::sort(places.begin(), places.end());
  for (const double x : places)
    if (!isKnown(x)) rank.members.push_back({x, x, -1});
}

// Moves the members of the rank to the right as far as necessary. Members that were close to each other may stay as
// close.
void CanvasRoom::push(Rank& rank, const GrownOfLevel& grown, double leftmost) const {
  // The right ends of the members further to the left, after and before moving.
  double end = std::numeric_limits<double>::lowest(), endBefore = end;
  for (Member& member : rank.members) {
    const auto grows =
        std::find_if(grown.begin(), grown.end(), [&](const Grown& one) { return one.item == member.item; });
    const bool first = endBefore == std::numeric_limits<double>::lowest();
    const double gap = std::min(member.left - endBefore, kLeastGap);
    const double least = first ? std::numeric_limits<double>::lowest() : end + gap;
    double width = member.right - member.left;
    if (grows != grown.end() && member.item >= 0) {
      width = grows->size.width();
      member.moves = std::max({grows->left, leftmost, least}) - member.left;
    } else {
      member.moves = std::max(0.0, least - member.left);
    }
    end = std::max(end, member.left + member.moves + width);
    endBefore = std::max(endBefore, member.right);
  }
}

// Marks the edges that are attached to members which move sideways.
void CanvasRoom::touch(const Stretch& stretch, const Rank& rank) {
  for (const Member& member : rank.members) {
    if (std::abs(member.moves) < 0.01) continue;
    const double right = std::min(member.right, stretch.end + metrics::kPadding);
    const QRectF area(member.left - 1, rank.top - 1, right - member.left + 2, rank.bottom - rank.top + 2);
    for (const int e : m_scene.edgeIndex.meeting(area)) m_touched[std::size_t(e)] = true;
  }
}

// Parents come before the items in them.
void CanvasRoom::moveItems() {
  m_moves.resize(m_scene.items.size());
  for (std::size_t i = 0; i < m_moves.size(); ++i) {
    const CanvasItem& item = m_scene.items[i];
    QPointF move = item.parent < 0 ? QPointF() : m_moves[std::size_t(item.parent)];
    if (const Level* level = roomIn(item.parent)) {
      const QRectF& rect = m_scene.rects[i];
      const Stretch& stretch = level->at(rect.center().x());
      // Items without edges are below all stretches.
      const bool isLonely = level->stretches.size() > 1 && item.isBox() && item.edgesIn + item.edgesOut == 0;
      move.rx() += stretch.moves;
      // The upper edges of a grown item and of the items beside it keep their place.
      move.ry() += isLonely ? level->taller : stretch.drop(rect.top());
      if (const Rank* rank = stretch.at(rect.center().y())) {
        const auto member = std::find_if(rank->members.begin(), rank->members.end(),
                                         [&](const Member& other) { return other.item == int(i); });
        if (member != rank->members.end()) move.rx() += member->moves;
      }
    }
    m_moves[i] = move;
  }
}

QRectF CanvasRoom::rectOf(int item) const {
  const QRectF rect = m_scene.rects[std::size_t(item)].translated(m_moves[std::size_t(item)]);
  const auto size = m_sizes.find(item);
  return size == m_sizes.end() ? rect : QRectF(rect.topLeft(), size->second);
}

// ---- edges ----

// Returns the innermost container around the point that contains an end of the edge; -1 if there is none.
int CanvasRoom::levelAt(int edge, const QPointF& point) const {
  const CanvasEdge& of = m_scene.edges[std::size_t(edge)];
  int level = -1, deepest = 0;
  for (const int end : {of.from, of.to}) {
    for (int c = m_scene.items[std::size_t(end)].parent; c >= 0; c = m_scene.items[std::size_t(c)].parent) {
      if (!m_scene.rects[std::size_t(c)].adjusted(-kNear, -kNear, kNear, kNear).contains(point)) continue;
      if (const int depth = depthOf(c); depth > deepest) {
        deepest = depth;
        level = c;
      }
      break;
    }
  }
  return level;
}

QPointF CanvasRoom::moved(int level, const QPointF& point) const {
  QPointF to = level < 0 ? point : point + m_moves[std::size_t(level)];
  if (const Level* room = roomIn(level)) {
    const bool leaves = level >= 0 && point.y() > m_scene.rects[std::size_t(level)].bottom() - kNear;
    to.ry() += leaves ? room->taller : room->drop(point);
    to.rx() += room->at(point.x()).moves;
    if (const Rank* rank = room->rankAt(point)) to.rx() += rank->movesAt(point.x());
  }
  return to;
}

void CanvasRoom::appendCurve(int edge, const Ends& ends, std::vector<QPointF>& points) const {
  const CanvasCurves::Points before = m_scene.curves.of(edge);
  if (before.empty()) return;
  const CanvasEdge& of = m_scene.edges[std::size_t(edge)];
  const int from = m_scene.items[std::size_t(of.from)].parent, to = m_scene.items[std::size_t(of.to)].parent;
  // The edge goes from the present end of its box down to the end of its rank.
  points.push_back(ends.from ? *ends.from : before.front() + m_moves[std::size_t(of.from)]);
  const bool bends = m_touched[std::size_t(edge)] || ends.from || ends.to;
  if (!bends && from == to) {
    const QPointF move = from < 0 ? QPointF() : m_moves[std::size_t(from)];
    const Level* room = roomIn(from);
    const auto now = [&](const QPointF& p) {
      return room == nullptr ? p + move : p + move + QPointF(room->at(p.x()).moves, room->drop(p));
    };
    appendStraight(points, now(before.front()));
    for (const QPointF& p : before.subspan(1)) points.push_back(now(p));
    return;
  }
  std::vector<QPointF> stops;  // where the pieces of the curve meet
  std::vector<int> levels;
  for (std::size_t p = 0; p < before.size(); p += 3) {
    levels.push_back(levelAt(edge, before[p]));
    stops.push_back(moved(levels.back(), before[p]));
  }
  if (ends.from) leadTo(ends.from->x(), levels, before, stops, false);
  if (ends.to) leadTo(ends.to->x(), levels, before, stops, true);
  appendStraight(points, stops.front());
  for (std::size_t s = 0; s + 1 < stops.size(); ++s) {
    // A piece that ends at the border of a container is outside of it.
    const int level = depthOf(levels[s]) < depthOf(levels[s + 1]) ? levels[s] : levels[s + 1];
    appendPiece(level, before.subspan(3 * s, 4), stops[s], stops[s + 1], points);
  }
}

// Moves the part of an edge that is in the rank of its box, because the edge begins or ends at another place of the
// box.
void CanvasRoom::leadTo(double x, const std::vector<int>& levels, CanvasCurves::Points before,
                        std::vector<QPointF>& stops, bool atEnd) const {
  const auto place = [&](std::size_t s) { return atEnd ? stops.size() - 1 - s : s; };
  const auto pointOf = [&](std::size_t s) { return before[3 * place(s)]; };
  const Level* room = roomIn(levels[place(0)]);
  const Rank* rank = room == nullptr ? nullptr : room->rankAt(pointOf(0));
  stops[place(0)].setX(x);
  for (std::size_t s = 1; rank != nullptr && s < stops.size(); ++s) {
    if (!rank->contains(pointOf(s).y()) || std::abs(pointOf(s).x() - pointOf(0).x()) > kNear) break;
    stops[place(s)].setX(x);
  }
}

// Appends a piece from `from`, where `points` end, to `to`. A vertical piece goes around grown items.
void CanvasRoom::appendPiece(int level, CanvasCurves::Points piece, const QPointF& from, const QPointF& to,
                             std::vector<QPointF>& points) const {
  if (!isVertical(piece)) {
    const QPointF atFrom = from - piece[0], atTo = to - piece[3];
    points.insert(points.end(), {piece[1] + atFrom, piece[2] + atTo, to});
    return;
  }
  const bool down = piece[0].y() <= piece[3].y();
  const double top = std::min(piece[0].y(), piece[3].y()), bottom = std::max(piece[0].y(), piece[3].y());
  const double x = piece[0].x();
  const QPointF atTop = down ? from : to, atBottom = down ? to : from;
  std::vector<QPointF> way{atTop};
  const Level* of = roomIn(level);
  const Stretch* room = of == nullptr || of->isGutter(x) ? nullptr : &of->at(x);
  const QPointF usual = (level < 0 ? QPointF() : m_moves[std::size_t(level)]) + QPointF(room ? room->moves : 0, 0);
  const auto straightAt = [&](double y) { return QPointF(x, y + (room == nullptr ? 0 : room->drop(y))) + usual; };
  for (std::size_t r = 0; room != nullptr && r < room->ranks.size(); ++r) {
    const Rank& rank = room->ranks[r];
    if (rank.bottom < top - kNear || rank.top > bottom + kNear) continue;
    const bool begins = rank.contains(top), ends = rank.contains(bottom);
    const double inside = begins ? atTop.x() : ends ? atBottom.x() : straightAt(rank.top).x() + rank.movesAt(x);
    if (std::abs(inside - straightAt(rank.top).x()) < kNear) continue;
    const double above = r == 0 ? kBend : std::min(kBend, (rank.top - room->ranks[r - 1].bottom) / 2);
    const double below =
        r + 1 == room->ranks.size() ? kBend : std::min(kBend, (room->ranks[r + 1].top - rank.bottom) / 2);
    if (!begins) {
      way.push_back(straightAt(std::max(top, rank.top - above)));
      way.emplace_back(inside, straightAt(rank.top).y());
    }
    if (!ends) {
      way.emplace_back(inside, straightAt(rank.bottom).y());
      way.push_back(straightAt(std::min(bottom, rank.bottom + below)));
    }
  }
  way.push_back(atBottom);
  if (!down) std::reverse(way.begin(), way.end());
  for (std::size_t w = 1; w < way.size(); ++w) appendBend(points, way[w]);
}

}  // namespace fusescope
