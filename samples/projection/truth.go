package main

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// truth returns what the index has to say. The database makes the join, one hotel at a time: slow, and in another way than
// the loader, so that a mistake there is not its own judge.
func truth(ctx context.Context, db *sql.DB) (map[string]Hotel, error) {
	rows, err := db.QueryContext(ctx, `SELECT json_object('id', CAST(h.id AS TEXT), 'name', h.name, 'city', h.city,
			'rooms', json((SELECT json_group_array(json_object('id', r.id, 'kind', r.kind, 'price', r.price)) FROM rooms r WHERE r.hotel_id = h.id)),
			'cheapest', coalesce((SELECT min(price) FROM rooms r WHERE r.hotel_id = h.id), 0),
			'reviews', (SELECT count(*) FROM reviews v WHERE v.hotel_id = h.id),
			'stars', coalesce((SELECT sum(stars) * 1.0 / count(*) FROM reviews v WHERE v.hotel_id = h.id), 0))
		FROM hotels h`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := make(map[string]Hotel)
	for rows.Next() {
		var text []byte
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		h, err := read(text)
		if err != nil {
			return nil, err
		}
		all[h.ID] = h
	}
	return all, rows.Err()
}

// read reads a document. The order of rooms is nobody's promise.
func read(text []byte) (h Hotel, err error) {
	if err := json.Unmarshal(text, &h); err != nil {
		return h, fmt.Errorf("%s: %w", text, err)
	}
	slices.SortFunc(h.Rooms, func(a, b Room) int { return cmp.Compare(a.ID, b.ID) })
	return h, nil
}

// compare returns what is wrong with an index.
func compare(want map[string]Hotel, index map[string]json.RawMessage) (problems []string) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		text, there := index[key]
		if !there {
			problems = append(problems, key+": the index does not have it")
			continue
		}
		got, err := read(text)
		switch {
		case err != nil:
			problems = append(problems, err.Error())
		case !reflect.DeepEqual(got, want[key]):
			problems = append(problems, fmt.Sprintf("%s: the tables say %+v and the index %+v", key, want[key], got))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(index)) {
		if _, there := want[key]; !there {
			problems = append(problems, key+": only the index has it")
		}
	}
	return problems
}
