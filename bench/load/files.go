package load

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/go-azsearch/azsearch/bench/internal/corpus"
)

// write creates the file of a contestant if it does not exist.
func write(kind, path string, documents int) (err error) {
	if _, err := os.Stat(path); err == nil || kind == "structs" {
		return nil
	}
	f, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	hotels := corpus.New(documents, 300, corpus.NewHotel, func(h *corpus.Hotel, key string) { h.ID = key })
	switch kind {
	case "jsonl":
		err = writeLines(w, hotels)
	case "csv":
		err = writeCSV(w, hotels)
	case "parquet":
		err = writeParquet(w, hotels)
	}
	if err := errors.Join(err, w.Flush(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

func writeLines(w io.Writer, hotels *corpus.Workload[corpus.Hotel]) error {
	enc := json.NewEncoder(w)
	var h corpus.Hotel
	for i := range hotels.Len() {
		hotels.Document(i, &h)
		if err := enc.Encode(&h); err != nil {
			return err
		}
	}
	return nil
}

func writeCSV(w io.Writer, hotels *corpus.Workload[corpus.Hotel]) error {
	out := csv.NewWriter(w)
	err := out.Write(strings.Split("id,name,description,category,tags,rating,price,rooms,parking,opened,changed,address,scores", ","))
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	text := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	var h corpus.Hotel
	for i := range hotels.Len() {
		hotels.Document(i, &h)
		err = errors.Join(err, out.Write([]string{
			h.ID, h.Name, h.Description, h.Category, strings.Join(h.Tags, "|"), number(h.Rating), number(h.Price), strconv.Itoa(h.Rooms),
			strconv.FormatBool(h.Parking), h.Opened.Format(time.RFC3339), h.Changed.Format(time.RFC3339), text(h.Address), text(h.Scores),
		}))
	}
	out.Flush()
	return errors.Join(err, out.Error())
}

func writeParquet(w io.Writer, hotels *corpus.Workload[corpus.Hotel]) error {
	out := parquet.NewGenericWriter[corpus.Hotel](w, parquet.Compression(&parquet.Snappy))
	var h corpus.Hotel
	for i := range hotels.Len() {
		hotels.Document(i, &h)
		if _, err := out.Write([]corpus.Hotel{h}); err != nil {
			return err
		}
	}
	return out.Close()
}
